# infinitrain_add_provider(NAME SOURCES file... [REFERENCE_KERNELS])
#
# Make the library libitp_NAME.so that exports infinitrain_provider_v1 and nothing else, resolves every symbol at
# link time, and is compiled with warnings on. REFERENCE_KERNELS adds the SDK's portable kernels
# (infinitrain/reference.h). The target is named itp_NAME.
set(INFINITRAIN_SANITIZE "" CACHE STRING "address, undefined or thread: build providers with one of gcc's sanitizers")

function(infinitrain_add_provider name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "REFERENCE_KERNELS" "" "SOURCES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "infinitrain_add_provider(NAME SOURCES file... [REFERENCE_KERNELS]): "
                        "expected sources, found '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  string(LENGTH "${name}" length)
  if(NOT name MATCHES "^[a-z][a-z0-9_]*$" OR length GREATER 32)
    message(FATAL_ERROR "provider name '${name}': expected a lower-case letter, then at most 31 of a-z, 0-9 and _")
  endif()
  set(target itp_${name})
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE Infinitrain::capi)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  set_target_properties(
    ${target}
    PROPERTIES PREFIX "lib"
               C_VISIBILITY_PRESET hidden
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               POSITION_INDEPENDENT_CODE ON)
  if(arg_REFERENCE_KERNELS)
    if(NOT CMAKE_C_COMPILER)
      message(FATAL_ERROR "infinitrain_add_provider(${name} REFERENCE_KERNELS): the kernels are C. "
                          "Name C among the languages of project()")
    endif()
    get_target_property(root Infinitrain::capi INFINITRAIN_CAPI_ROOT)
    file(GLOB reference CONFIGURE_DEPENDS "${root}/sdk/reference/*.c")
    target_sources(${target} PRIVATE ${reference})
    # The random numbers' bits are those of exactly rounded arithmetic.
    set_source_files_properties(${reference} PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off")
    target_link_libraries(${target} PRIVATE m)
  endif()
  set(map "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/provider.map")
  # A provider is never unloaded: its threads may outlive the last handle that somebody closes.
  target_link_options(${target} PRIVATE "LINKER:--version-script=${map}" "LINKER:-z,nodelete")
  set_target_properties(${target} PROPERTIES LINK_DEPENDS "${map}")
  if(INFINITRAIN_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${INFINITRAIN_SANITIZE} -fno-omit-frame-pointer -g)
    target_link_options(${target} PRIVATE -fsanitize=${INFINITRAIN_SANITIZE})
  else()
    # A sanitizer's own functions come from the process, so only a plain build can have every symbol resolved.
    target_link_options(${target} PRIVATE "LINKER:-z,defs")
  endif()
endfunction()
