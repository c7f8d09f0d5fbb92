"""A host of under 100 lines in ctypes: load a provider, run Fill on its device, copy the result back.

python host.py ./libitp_acme.so
"""

import ctypes as c
import sys

TYPES = {"u32": c.c_uint32, "i32": c.c_int32, "u64": c.c_uint64, "i64": c.c_int64, "f64": c.c_double}
TYPES |= {"text": c.c_char_p, "ptr": c.c_void_p, "name": c.c_char * 64, "uuid": c.c_char * 40}
I32, U32, U64, PTR = TYPES["i32"], TYPES["u32"], TYPES["u64"], TYPES["ptr"]
#: The structs of the contract, each down to the last field that is used here: no struct has padding.
STRUCTS = """
Error: u32 struct_size; i32 code; i64 native; u64 tag; text message; u64 capacity length; ptr file; u64 line
Tensor: ptr data; i32 device_type device_id ndim; u32 dtype; ptr shape strides; u64 byte_offset nbytes flags
Value: u32 kind count; f64 d
Kernel: u32 struct_size version; text name schema; u64 dtype_mask flags; ptr state launch
Launch: u32 struct_size; i32 device; ptr stream inputs outputs attrs; u32 n_inputs n_outputs n_attrs flags; \
    ptr workspace; u64 workspace_size tag; ptr kernel
Kernels: u32 struct_size count; ptr items
Info: u32 struct_size; i32 device_type; name name; uuid uuid; u64 memory alignment compute storage; \
    u32 autocast reserved; u64 caps max_collective
Copy: u32 struct_size flags; ptr dst src; u64 bytes; i32 dst_device src_device; ptr stream; u64 tag
Runtime: u32 struct_size reserved; ptr device_count device_info alloc dealloc mem_info copy
Guard: u32 struct_size reserved; ptr enter leave device_sync
Config: u32 struct_size; i32 world rank local data tensor pipeline context; ptr names values; u64 n_options
Provider: u32 struct_size abi_minor; text name vendor version build_info; u64 flags; ptr options; u64 n_options; \
    ptr init shutdown runtime guard kernels
"""
for line in STRUCTS.strip().splitlines():
    name, _, text = line.partition(":")
    parts = [part.split() for part in text.split(";")]
    fields = [(field, TYPES[kind]) for kind, *names in parts for field in names]
    TYPES[name] = type(name, (c.Structure,), {"_fields_": fields})


def make(name, **fields):
    """Make a struct that begins with its size; the rest is 0."""
    return TYPES[name](struct_size=c.sizeof(TYPES[name]), **fields)


TEXT = c.create_string_buffer(512)
ERROR = make("Error", message=c.cast(TEXT, c.c_char_p), capacity=512)


def call(slot, *arguments):
    """Call a slot; its last parameter is the error record, its result a status."""
    types = [type(each) if isinstance(each, c._SimpleCData) else PTR for each in arguments]
    if c.CFUNCTYPE(I32, *types, PTR)(slot)(*arguments, c.byref(ERROR)):
        raise SystemExit(f"status {ERROR.code}: {TEXT.value.decode()}")


def main(path):
    """Do what the module says."""
    # 1. Open the library, for ever, and ask for its table.
    entry = c.CDLL(path).infinitrain_provider_v1
    entry.restype, entry.argtypes = PTR, [U32]
    p = TYPES["Provider"].from_address(entry(0) or sys.exit("it cannot serve a host of this minor version"))
    runtime, guard = TYPES["Runtime"].from_address(p.runtime), TYPES["Guard"].from_address(p.guard)
    kernels = TYPES["Kernels"].from_address(p.kernels)
    # 2. Start it, and look at its devices.
    me, count, info = PTR(), I32(), make("Info")
    call(p.init, PTR(), c.byref(make("Config", world=1, data=1, tensor=1, pipeline=1, context=1)), c.byref(me))
    call(runtime.device_count, me, c.byref(count))
    call(runtime.device_info, me, I32(0), c.byref(info))
    print(f"{p.name.decode()}:0 of {count.value}, {info.name.decode()}, by {p.vendor.decode()} {p.version.decode()}")
    # 3. Memory on its default stream (NULL), and a tensor over it: float32 is code 2, 32 bits, 1 lane.
    rows, columns, memory, host = 3, 5, PTR(), (c.c_float * 15)()
    call(runtime.alloc, me, I32(0), U32(0), U64(c.sizeof(host)), PTR(), c.byref(memory))
    shape, float32 = (c.c_int64 * 2)(rows, columns), 2 | 32 << 8 | 1 << 16
    y = TYPES["Tensor"](memory, info.device_type, 0, 2, float32, c.addressof(shape), None, 0, c.sizeof(host), 0)
    # 4. Launch Fill(*, scalar value) -> (T y).
    items = map(TYPES["Kernel"].from_address, (PTR * kernels.count).from_address(kernels.items))
    fill = next(kernel for kernel in items if kernel.name == b"Fill")
    outputs, value = (PTR * 1)(c.addressof(y)), TYPES["Value"](kind=2, d=2.5)
    launch = make("Launch", outputs=c.addressof(outputs), attrs=c.addressof(value), n_outputs=1, n_attrs=1)
    launch.kernel = c.addressof(fill)
    call(fill.launch, me, c.byref(launch))
    # 5. Copy back: pageable host memory is there when the call returns. Device -1 is the host.
    copy = make("Copy", dst=c.addressof(host), src=memory, bytes=c.sizeof(host), dst_device=-1)
    call(runtime.copy, me, c.byref(copy))
    print("\n".join(" ".join(f"{x:g}" for x in host[r * columns : (r + 1) * columns]) for r in range(rows)))
    # 6. Give everything back.
    call(runtime.dealloc, me, I32(0), U32(0), memory, U64(c.sizeof(host)), PTR())
    call(guard.device_sync, me, I32(0))
    if p.shutdown:
        call(p.shutdown, me, U32(0))


if __name__ == "__main__":
    main(sys.argv[1])
