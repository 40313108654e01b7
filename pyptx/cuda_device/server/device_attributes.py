"""Device attributes: number, name and value of each CU_DEVICE_ATTRIBUTE.

Sources: limits of the compute capability from `pyptx.isa.targets`, sizes and clocks from `pyptx.analysis.gpu_table`,
other numbers from the CUDA C++ Programming Guide, "Compute Capabilities".
"""

from __future__ import annotations

from collections.abc import Callable

from pyptx.analysis.gpus import Gpu
from pyptx.isa import targets

__all__ = ["ATTRIBUTES", "attribute"]

_KHZ = 1000
_HOPPER = 90


def _number(gpu: Gpu) -> int:
    return targets.parse(gpu.target).number


def _from(number: int) -> Callable[[Gpu], int]:
    """Return 1 from a compute capability (times ten) on."""
    return lambda gpu: int(_number(gpu) >= number)


Value = int | Callable[[Gpu], int]

ATTRIBUTES: dict[int, tuple[str, Value]] = {
    1: ("MAX_THREADS_PER_BLOCK", lambda g: g.limits.threads_per_cta),
    2: ("MAX_BLOCK_DIM_X", 1024),
    3: ("MAX_BLOCK_DIM_Y", 1024),
    4: ("MAX_BLOCK_DIM_Z", 64),
    5: ("MAX_GRID_DIM_X", 2**31 - 1),
    6: ("MAX_GRID_DIM_Y", 65535),
    7: ("MAX_GRID_DIM_Z", 65535),
    8: ("MAX_SHARED_MEMORY_PER_BLOCK", 48 << 10),
    9: ("TOTAL_CONSTANT_MEMORY", 64 << 10),
    10: ("WARP_SIZE", 32),
    11: ("MAX_PITCH", 2**31 - 1),
    12: ("MAX_REGISTERS_PER_BLOCK", lambda g: g.limits.regs_per_cta),
    13: ("CLOCK_RATE", lambda g: int(g.clock_hz / _KHZ)),
    14: ("TEXTURE_ALIGNMENT", 512),
    15: ("GPU_OVERLAP", 1),
    16: ("MULTIPROCESSOR_COUNT", lambda g: g.sms),
    17: ("KERNEL_EXEC_TIMEOUT", 0),
    18: ("INTEGRATED", 0),
    19: ("CAN_MAP_HOST_MEMORY", 1),
    20: ("COMPUTE_MODE", 0),
    21: ("MAXIMUM_TEXTURE1D_WIDTH", 131072),
    22: ("MAXIMUM_TEXTURE2D_WIDTH", 131072),
    23: ("MAXIMUM_TEXTURE2D_HEIGHT", 65536),
    24: ("MAXIMUM_TEXTURE3D_WIDTH", 16384),
    25: ("MAXIMUM_TEXTURE3D_HEIGHT", 16384),
    26: ("MAXIMUM_TEXTURE3D_DEPTH", 16384),
    27: ("MAXIMUM_TEXTURE2D_LAYERED_WIDTH", 32768),
    28: ("MAXIMUM_TEXTURE2D_LAYERED_HEIGHT", 32768),
    29: ("MAXIMUM_TEXTURE2D_LAYERED_LAYERS", 2048),
    30: ("SURFACE_ALIGNMENT", 512),
    31: ("CONCURRENT_KERNELS", 1),
    32: ("ECC_ENABLED", 0),
    33: ("PCI_BUS_ID", 1),
    34: ("PCI_DEVICE_ID", 0),
    35: ("TCC_DRIVER", 0),
    36: ("MEMORY_CLOCK_RATE", lambda g: int(g.dram_bytes_per_s / _BUS_BITS / 2 * 8 / _KHZ)),
    37: ("GLOBAL_MEMORY_BUS_WIDTH", lambda g: _BUS_BITS),
    38: ("L2_CACHE_SIZE", lambda g: g.l2_bytes),
    39: ("MAX_THREADS_PER_MULTIPROCESSOR", lambda g: g.limits.threads_per_sm),
    40: ("ASYNC_ENGINE_COUNT", 3),
    41: ("UNIFIED_ADDRESSING", 1),
    42: ("MAXIMUM_TEXTURE1D_LAYERED_WIDTH", 32768),
    43: ("MAXIMUM_TEXTURE1D_LAYERED_LAYERS", 2048),
    44: ("CAN_TEX2D_GATHER", 1),
    45: ("MAXIMUM_TEXTURE2D_GATHER_WIDTH", 32768),
    46: ("MAXIMUM_TEXTURE2D_GATHER_HEIGHT", 32768),
    47: ("MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE", 8192),
    48: ("MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE", 8192),
    49: ("MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE", 32768),
    50: ("PCI_DOMAIN_ID", 0),
    51: ("TEXTURE_PITCH_ALIGNMENT", 32),
    52: ("MAXIMUM_TEXTURECUBEMAP_WIDTH", 32768),
    53: ("MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH", 32768),
    54: ("MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS", 2046),
    55: ("MAXIMUM_SURFACE1D_WIDTH", 32768),
    56: ("MAXIMUM_SURFACE2D_WIDTH", 131072),
    57: ("MAXIMUM_SURFACE2D_HEIGHT", 65536),
    58: ("MAXIMUM_SURFACE3D_WIDTH", 16384),
    59: ("MAXIMUM_SURFACE3D_HEIGHT", 16384),
    60: ("MAXIMUM_SURFACE3D_DEPTH", 16384),
    61: ("MAXIMUM_SURFACE1D_LAYERED_WIDTH", 32768),
    62: ("MAXIMUM_SURFACE1D_LAYERED_LAYERS", 2048),
    63: ("MAXIMUM_SURFACE2D_LAYERED_WIDTH", 32768),
    64: ("MAXIMUM_SURFACE2D_LAYERED_HEIGHT", 32768),
    65: ("MAXIMUM_SURFACE2D_LAYERED_LAYERS", 2048),
    66: ("MAXIMUM_SURFACECUBEMAP_WIDTH", 32768),
    67: ("MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH", 32768),
    68: ("MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS", 2046),
    69: ("MAXIMUM_TEXTURE1D_LINEAR_WIDTH", 1 << 28),
    70: ("MAXIMUM_TEXTURE2D_LINEAR_WIDTH", 131072),
    71: ("MAXIMUM_TEXTURE2D_LINEAR_HEIGHT", 65000),
    72: ("MAXIMUM_TEXTURE2D_LINEAR_PITCH", 2097120),
    73: ("MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH", 32768),
    74: ("MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT", 32768),
    75: ("COMPUTE_CAPABILITY_MAJOR", lambda g: _number(g) // 10),
    76: ("COMPUTE_CAPABILITY_MINOR", lambda g: _number(g) % 10),
    77: ("MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH", 32768),
    78: ("STREAM_PRIORITIES_SUPPORTED", 1),
    79: ("GLOBAL_L1_CACHE_SUPPORTED", 1),
    80: ("LOCAL_L1_CACHE_SUPPORTED", 1),
    81: ("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR", lambda g: g.limits.smem_per_sm),
    82: ("MAX_REGISTERS_PER_MULTIPROCESSOR", lambda g: g.limits.regs_per_sm),
    83: ("MANAGED_MEMORY", 1),
    84: ("MULTI_GPU_BOARD", 0),
    85: ("MULTI_GPU_BOARD_GROUP_ID", 0),
    86: ("HOST_NATIVE_ATOMIC_SUPPORTED", 0),
    87: ("SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO", lambda g: int(g.core["f32"] / g.core["f64"])),
    88: ("PAGEABLE_MEMORY_ACCESS", 0),
    89: ("CONCURRENT_MANAGED_ACCESS", 1),
    90: ("COMPUTE_PREEMPTION_SUPPORTED", 1),
    91: ("CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM", 1),
    95: ("COOPERATIVE_LAUNCH", 1),
    96: ("COOPERATIVE_MULTI_DEVICE_LAUNCH", 0),
    97: ("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", lambda g: g.limits.smem_per_cta),
    98: ("CAN_FLUSH_REMOTE_WRITES", 0),
    99: ("HOST_REGISTER_SUPPORTED", 1),
    100: ("PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES", 0),
    101: ("DIRECT_MANAGED_MEM_ACCESS_FROM_HOST", 1),
    102: ("VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED", 1),
    103: ("HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED", 1),
    104: ("HANDLE_TYPE_WIN32_HANDLE_SUPPORTED", 0),
    105: ("HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED", 0),
    106: ("MAX_BLOCKS_PER_MULTIPROCESSOR", lambda g: g.limits.ctas_per_sm),
    107: ("GENERIC_COMPRESSION_SUPPORTED", 0),
    108: ("MAX_PERSISTING_L2_CACHE_SIZE", 0),
    109: ("MAX_ACCESS_POLICY_WINDOW_SIZE", 0),
    110: ("GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED", 0),
    111: ("RESERVED_SHARED_MEMORY_PER_BLOCK", lambda g: g.limits.smem_reserved),
    112: ("SPARSE_CUDA_ARRAY_SUPPORTED", 0),
    113: ("READ_ONLY_HOST_REGISTER_SUPPORTED", 0),
    114: ("TIMELINE_SEMAPHORE_INTEROP_SUPPORTED", 0),
    115: ("MEMORY_POOLS_SUPPORTED", 1),
    116: ("GPU_DIRECT_RDMA_SUPPORTED", 0),
    117: ("GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS", 0),
    118: ("GPU_DIRECT_RDMA_WRITES_ORDERING", 0),
    119: ("MEMPOOL_SUPPORTED_HANDLE_TYPES", 1),
    120: ("CLUSTER_LAUNCH", _from(_HOPPER)),
    121: ("DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED", 0),
    122: ("CAN_USE_64_BIT_STREAM_MEM_OPS", 1),
    123: ("CAN_USE_STREAM_WAIT_VALUE_NOR", 1),
    124: ("DMA_BUF_SUPPORTED", 0),
    125: ("IPC_EVENT_SUPPORTED", 1),
    126: ("MEM_SYNC_DOMAIN_COUNT", lambda g: 4 if _number(g) >= _HOPPER else 1),
    127: ("TENSOR_MAP_ACCESS_SUPPORTED", _from(_HOPPER)),
    128: ("HANDLE_TYPE_FABRIC_SUPPORTED", 0),
    129: ("UNIFIED_FUNCTION_POINTERS", 0),
    130: ("NUMA_CONFIG", 0),
    131: ("NUMA_ID", 0),
    132: ("MULTICAST_SUPPORTED", 0),
    133: ("MPS_ENABLED", 0),
    134: ("HOST_NUMA_ID", 0),
    135: ("D3D12_CIG_SUPPORTED", 0),
    136: ("MEM_DECOMPRESS_ALGORITHM_MASK", 0),
    137: ("MEM_DECOMPRESS_MAXIMUM_LENGTH", 0),
    138: ("VULKAN_CIG_SUPPORTED", 0),
    139: ("GPU_PCI_DEVICE_ID", 0),
    140: ("GPU_PCI_SUBSYSTEM_ID", 0),
    141: ("HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED", 0),
    142: ("HOST_NUMA_MEMORY_POOLS_SUPPORTED", 0),
    143: ("HOST_NUMA_MULTINODE_IPC_SUPPORTED", 0),
}
_BUS_BITS = 5120  # with the clock it gives the device's rate, which is what programs compute from both


def attribute(gpu: Gpu, number: int) -> int | None:
    """Return the value of a device attribute; None if it is unknown."""
    if number not in ATTRIBUTES:
        return None
    value = ATTRIBUTES[number][1]
    return value if isinstance(value, int) else value(gpu)
