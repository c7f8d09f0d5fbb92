# find_package(InfinitrainCapi) gives the target Infinitrain::capi (include paths) and infinitrain_add_provider().
if(NOT TARGET Infinitrain::capi)
  # Inside a wheel the data lies beside this folder; in the source tree two levels above the Python package.
  get_filename_component(_itp_package "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
  if(EXISTS "${_itp_package}/data/include/infinitrain/provider.h")
    set(_itp_root "${_itp_package}/data")
  else()
    get_filename_component(_itp_root "${_itp_package}/../.." ABSOLUTE)
  endif()
  add_library(Infinitrain::capi INTERFACE IMPORTED GLOBAL)
  # The root is kept on the target: whoever sees the target sees it, in whatever directory it was found.
  set_target_properties(
    Infinitrain::capi PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_itp_root}/include;${_itp_root}/sdk"
                                 INFINITRAIN_CAPI_ROOT "${_itp_root}")
endif()
get_target_property(INFINITRAIN_CAPI_ROOT Infinitrain::capi INFINITRAIN_CAPI_ROOT)
include("${CMAKE_CURRENT_LIST_DIR}/InfinitrainAddProvider.cmake")
