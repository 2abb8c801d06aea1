/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * hsa_abi.h: types, structures and numbers of the HSA runtime interface and AMD's extensions to it,
 * declared by ourselves: no header of HSA is needed to build omprma. Names are the interface's, as
 * its other users know them. What only some releases of the runtime know is here, too. There are no
 * functions here, and nothing here knows of omprma.
 *
 * Attributes are plain numbers, since each set goes on behind the end of its standard ones.
 */
#ifndef OMPRMA_BASE_HSA_ABI_H
#define OMPRMA_BASE_HSA_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- status --------------------------------------------------------------------------------- */

typedef enum hsa_status {
    HSA_STATUS_SUCCESS = 0,
    HSA_STATUS_INFO_BREAK = 1, /* a callback has ended its iteration */
    /* AMD's */
    HSA_STATUS_ERROR_INVALID_MEMORY_POOL = 40,
    HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION = 41,
    HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION = 42,
    HSA_STATUS_ERROR_MEMORY_FAULT = 43,
    HSA_STATUS_CU_MASK_REDUCED = 44,
    HSA_STATUS_ERROR_OUT_OF_REGISTERS = 45,
    HSA_STATUS_ERROR_RESOURCE_BUSY = 46,
    HSA_STATUS_ERROR_NOT_SUPPORTED = 47,
    /* the standard's */
    HSA_STATUS_ERROR = 0x1000,
    HSA_STATUS_ERROR_INVALID_ARGUMENT = 0x1001,
    HSA_STATUS_ERROR_INVALID_QUEUE_CREATION = 0x1002,
    HSA_STATUS_ERROR_INVALID_ALLOCATION = 0x1003,
    HSA_STATUS_ERROR_INVALID_AGENT = 0x1004,
    HSA_STATUS_ERROR_INVALID_REGION = 0x1005,
    HSA_STATUS_ERROR_INVALID_SIGNAL = 0x1006,
    HSA_STATUS_ERROR_INVALID_QUEUE = 0x1007,
    HSA_STATUS_ERROR_OUT_OF_RESOURCES = 0x1008,
    HSA_STATUS_ERROR_INVALID_PACKET_FORMAT = 0x1009,
    HSA_STATUS_ERROR_RESOURCE_FREE = 0x100a,
    HSA_STATUS_ERROR_NOT_INITIALIZED = 0x100b,
    HSA_STATUS_ERROR_REFCOUNT_OVERFLOW = 0x100c,
    HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS = 0x100d,
    HSA_STATUS_ERROR_INVALID_INDEX = 0x100e,
    HSA_STATUS_ERROR_INVALID_ISA = 0x100f,
    HSA_STATUS_ERROR_INVALID_CODE_OBJECT = 0x1010,
    HSA_STATUS_ERROR_INVALID_EXECUTABLE = 0x1011,
    HSA_STATUS_ERROR_FROZEN_EXECUTABLE = 0x1012,
    HSA_STATUS_ERROR_INVALID_SYMBOL_NAME = 0x1013,
    HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED = 0x1014,
    HSA_STATUS_ERROR_VARIABLE_UNDEFINED = 0x1015,
    HSA_STATUS_ERROR_EXCEPTION = 0x1016,
    HSA_STATUS_ERROR_INVALID_ISA_NAME = 0x1017,
    HSA_STATUS_ERROR_INVALID_CODE_SYMBOL = 0x1018,
    HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL = 0x1019,
    HSA_STATUS_ERROR_INVALID_FILE = 0x1020,
    HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER = 0x1021,
    HSA_STATUS_ERROR_INVALID_CACHE = 0x1022,
    HSA_STATUS_ERROR_INVALID_WAVEFRONT = 0x1023,
    HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP = 0x1024,
    HSA_STATUS_ERROR_INVALID_RUNTIME_STATE = 0x1025,
    HSA_STATUS_ERROR_FATAL = 0x1026,
    /* the image extension's */
    HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED = 0x3000,
    HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED = 0x3001,
    HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED = 0x3002,
    HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED = 0x3003
} hsa_status_t;

/* ---- handles -------------------------------------------------------------------------------- */

#define HSA_HANDLE(name)                                                                           \
    typedef struct name {                                                                          \
        uint64_t handle;                                                                           \
    } name##_t
HSA_HANDLE(hsa_agent);
HSA_HANDLE(hsa_amd_memory_pool);
HSA_HANDLE(hsa_cache);
HSA_HANDLE(hsa_callback_data);
HSA_HANDLE(hsa_code_object);
HSA_HANDLE(hsa_code_object_reader);
HSA_HANDLE(hsa_code_symbol);
HSA_HANDLE(hsa_executable);
HSA_HANDLE(hsa_executable_symbol);
HSA_HANDLE(hsa_isa);
HSA_HANDLE(hsa_loaded_code_object);
HSA_HANDLE(hsa_region);
HSA_HANDLE(hsa_signal);
HSA_HANDLE(hsa_signal_group);
HSA_HANDLE(hsa_wavefront);
#undef HSA_HANDLE

typedef struct hsa_dim3 {
    uint32_t x, y, z;
} hsa_dim3_t;

typedef int hsa_file_t; /* a file descriptor */

/* ---- system --------------------------------------------------------------------------------- */

typedef uint32_t hsa_system_info_t;
enum {
    HSA_SYSTEM_INFO_VERSION_MAJOR = 0,                     /* uint16_t */
    HSA_SYSTEM_INFO_VERSION_MINOR = 1,                     /* uint16_t */
    HSA_SYSTEM_INFO_TIMESTAMP = 2,                         /* uint64_t */
    HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY = 3,               /* uint64_t, Hz */
    HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT = 4,                   /* uint64_t, of that frequency */
    HSA_SYSTEM_INFO_ENDIANNESS = 5,                        /* hsa_endianness_t */
    HSA_SYSTEM_INFO_MACHINE_MODEL = 6,                     /* hsa_machine_model_t */
    HSA_SYSTEM_INFO_EXTENSIONS = 7,                        /* uint8_t[128], a bit for each */
    HSA_AMD_SYSTEM_INFO_BUILD_VERSION = 0x200,             /* const char * */
    HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED = 0x201,             /* bool */
    HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT = 0x202, /* bool */
    HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED = 0x203,            /* bool */
    HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED = 0x204,          /* bool */
    HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED = 0x205, /* bool */
    HSA_AMD_SYSTEM_INFO_XNACK_ENABLED = 0x206,             /* bool */
    HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR = 0x207,         /* uint16_t */
    HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR = 0x208          /* uint16_t */
};

typedef enum { HSA_ENDIANNESS_LITTLE = 0, HSA_ENDIANNESS_BIG = 1 } hsa_endianness_t;
typedef enum { HSA_MACHINE_MODEL_SMALL = 0, HSA_MACHINE_MODEL_LARGE = 1 } hsa_machine_model_t;
typedef enum { HSA_PROFILE_BASE = 0, HSA_PROFILE_FULL = 1 } hsa_profile_t;

enum hsa_extension {
    HSA_EXTENSION_FINALIZER = 0,
    HSA_EXTENSION_IMAGES = 1,
    HSA_EXTENSION_PERFORMANCE_COUNTERS = 2,
    HSA_EXTENSION_PROFILING_EVENTS = 3,
    HSA_EXTENSION_AMD_PROFILER = 0x200,
    HSA_EXTENSION_AMD_LOADER = 0x201,
    HSA_EXTENSION_AMD_AQLPROFILE = 0x202,
    HSA_EXTENSION_AMD_PC_SAMPLING = 0x203
};

/* ---- agents --------------------------------------------------------------------------------- */

typedef enum {
    HSA_DEVICE_TYPE_CPU = 0,
    HSA_DEVICE_TYPE_GPU = 1,
    HSA_DEVICE_TYPE_DSP = 2
} hsa_device_type_t;

enum hsa_agent_feature {
    HSA_AGENT_FEATURE_KERNEL_DISPATCH = 1,
    HSA_AGENT_FEATURE_AGENT_DISPATCH = 2
};

typedef enum {
    HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT = 0,
    HSA_DEFAULT_FLOAT_ROUNDING_MODE_ZERO = 1,
    HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR = 2
} hsa_default_float_rounding_mode_t;

typedef uint32_t hsa_agent_info_t;
enum {
    HSA_AGENT_INFO_NAME = 0,                        /* char[64] */
    HSA_AGENT_INFO_VENDOR_NAME = 1,                 /* char[64] */
    HSA_AGENT_INFO_FEATURE = 2,                     /* uint32_t, enum hsa_agent_feature */
    HSA_AGENT_INFO_MACHINE_MODEL = 3,               /* hsa_machine_model_t */
    HSA_AGENT_INFO_PROFILE = 4,                     /* hsa_profile_t */
    HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE = 5, /* hsa_default_float_rounding_mode_t */
    HSA_AGENT_INFO_WAVEFRONT_SIZE = 6,              /* uint32_t */
    HSA_AGENT_INFO_WORKGROUP_MAX_DIM = 7,           /* uint16_t[3] */
    HSA_AGENT_INFO_WORKGROUP_MAX_SIZE = 8,          /* uint32_t */
    HSA_AGENT_INFO_GRID_MAX_DIM = 9,                /* hsa_dim3_t */
    HSA_AGENT_INFO_GRID_MAX_SIZE = 10,              /* uint32_t */
    HSA_AGENT_INFO_FBARRIER_MAX_SIZE = 11,          /* uint32_t */
    HSA_AGENT_INFO_QUEUES_MAX = 12,                 /* uint32_t */
    HSA_AGENT_INFO_QUEUE_MIN_SIZE = 13,             /* uint32_t, packets */
    HSA_AGENT_INFO_QUEUE_MAX_SIZE = 14,             /* uint32_t, packets */
    HSA_AGENT_INFO_QUEUE_TYPE = 15,                 /* hsa_queue_type32_t */
    HSA_AGENT_INFO_NODE = 16,                       /* uint32_t */
    HSA_AGENT_INFO_DEVICE = 17,                     /* hsa_device_type_t */
    HSA_AGENT_INFO_CACHE_SIZE = 18,                 /* uint32_t[4], bytes of levels 1 to 4 */
    HSA_AGENT_INFO_ISA = 19,                        /* hsa_isa_t */
    HSA_AGENT_INFO_EXTENSIONS = 20,                 /* uint8_t[128], a bit for each */
    HSA_AGENT_INFO_VERSION_MAJOR = 21,              /* uint16_t */
    HSA_AGENT_INFO_VERSION_MINOR = 22,              /* uint16_t */
    HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES = 23, /* rounding mode */
    HSA_AGENT_INFO_FAST_F16_OPERATION = 24,                        /* bool */
    /* of images; AMD's runtime and HIP have 32 bits here, the manual size_t */
    HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS = 0x3000,            /* uint32_t */
    HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS = 0x3001,           /* uint32_t */
    HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS = 0x3002,           /* uint32_t */
    HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS = 0x3003,            /* uint32_t[2] */
    HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS = 0x3004,           /* uint32_t[2] */
    HSA_EXT_AGENT_INFO_IMAGE_2DDEPTH_MAX_ELEMENTS = 0x3005,       /* uint32_t[2] */
    HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS = 0x3006,      /* uint32_t[2] */
    HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS = 0x3007,            /* uint32_t[3] */
    HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS = 0x3008,           /* uint32_t */
    HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES = 0x3009,             /* uint32_t */
    HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES = 0x300a,           /* uint32_t */
    HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS = 0x300b,             /* uint32_t */
    HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT = 0x300c, /* uint32_t */
    HSA_AMD_AGENT_INFO_CHIP_ID = 0xa000,                          /* uint32_t */
    HSA_AMD_AGENT_INFO_CACHELINE_SIZE = 0xa001,                   /* uint32_t */
    HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT = 0xa002,               /* uint32_t */
    HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY = 0xa003,              /* uint32_t, MHz */
    HSA_AMD_AGENT_INFO_DRIVER_NODE_ID = 0xa004,                   /* uint32_t */
    HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS = 0xa005,         /* uint32_t */
    HSA_AMD_AGENT_INFO_BDFID = 0xa006,                            /* uint32_t */
    HSA_AMD_AGENT_INFO_MEMORY_WIDTH = 0xa007,                     /* uint32_t, bits */
    HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY = 0xa008,             /* uint32_t, MHz */
    HSA_AMD_AGENT_INFO_PRODUCT_NAME = 0xa009,                     /* char[64] */
    HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU = 0xa00a,                 /* uint32_t */
    HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU = 0xa00b,                 /* uint32_t */
    HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES = 0xa00c,               /* uint32_t */
    HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE = 0xa00d,         /* uint32_t */
    HSA_AMD_AGENT_INFO_HDP_FLUSH = 0xa00e,                        /* hsa_amd_hdp_flush_t */
    HSA_AMD_AGENT_INFO_DOMAIN = 0xa00f,                           /* uint32_t */
    HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES = 0xa010,               /* bool */
    HSA_AMD_AGENT_INFO_UUID = 0xa011,                             /* char[21], "GPU-..." */
    HSA_AMD_AGENT_INFO_ASIC_REVISION = 0xa012,                    /* uint32_t */
    HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS = 0xa013,           /* bool */
    HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT = 0xa014,   /* uint32_t */
    HSA_AMD_AGENT_INFO_MEMORY_AVAIL = 0xa015,                     /* uint64_t, bytes */
    HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY = 0xa016,              /* uint64_t, Hz */
    HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID = 0xa107,                   /* uint32_t */
    HSA_AMD_AGENT_INFO_UCODE_VERSION = 0xa108,                    /* uint32_t */
    HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION = 0xa109,               /* uint32_t */
    HSA_AMD_AGENT_INFO_NUM_SDMA_ENG = 0xa10a,                     /* uint32_t */
    HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG = 0xa10b,                /* uint32_t */
    HSA_AMD_AGENT_INFO_IOMMU_SUPPORT = 0xa110,                    /* uint32_t; 0: none */
    HSA_AMD_AGENT_INFO_NUM_XCC = 0xa111,                          /* uint32_t */
    HSA_AMD_AGENT_INFO_DRIVER_UID = 0xa112,                       /* uint32_t */
    HSA_AMD_AGENT_INFO_NEAREST_CPU = 0xa113,                      /* hsa_agent_t */
    HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES = 0xa114,                /* uint8_t[8], bit 0: an APU */
    HSA_AMD_AGENT_INFO_AQL_EXTENSIONS = 0xa115,                   /* uint8_t[8] */
    HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX = 0xa116,                /* uint64_t, bytes */
    HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT = 0xa117,            /* uint64_t, bytes */
    HSA_AMD_AGENT_INFO_CLOCK_COUNTERS = 0xa118                    /* four uint64_t */
};

typedef struct hsa_amd_hdp_flush {
    uint32_t *HDP_MEM_FLUSH_CNTL, *HDP_REG_FLUSH_CNTL;
} hsa_amd_hdp_flush_t;

typedef enum {
    HSA_CACHE_INFO_NAME_LENGTH = 0, /* uint32_t, without the zero */
    HSA_CACHE_INFO_NAME = 1,        /* char[] */
    HSA_CACHE_INFO_LEVEL = 2,       /* uint8_t */
    HSA_CACHE_INFO_SIZE = 3         /* uint32_t, bytes */
} hsa_cache_info_t;

typedef enum {
    HSA_ISA_INFO_NAME_LENGTH = 0, /* uint32_t; AMD's runtime counts the zero */
    HSA_ISA_INFO_NAME = 1,        /* char[] */
    HSA_ISA_INFO_CALL_CONVENTION_COUNT = 2,
    HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE = 3,
    HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT = 4,
    HSA_ISA_INFO_MACHINE_MODELS = 5,                            /* bool[2] */
    HSA_ISA_INFO_PROFILES = 6,                                  /* bool[2] */
    HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES = 7,              /* bool[3] */
    HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES = 8, /* bool[3] */
    HSA_ISA_INFO_FAST_F16_OPERATION = 9,                        /* bool */
    HSA_ISA_INFO_WORKGROUP_MAX_DIM = 12,                        /* uint16_t[3] */
    HSA_ISA_INFO_WORKGROUP_MAX_SIZE = 13,                       /* uint32_t */
    HSA_ISA_INFO_GRID_MAX_DIM = 14,                             /* hsa_dim3_t */
    HSA_ISA_INFO_GRID_MAX_SIZE = 16,                            /* uint64_t */
    HSA_ISA_INFO_FBARRIER_MAX_SIZE = 17                         /* uint32_t */
} hsa_isa_info_t;

typedef enum { HSA_WAVEFRONT_INFO_SIZE = 0 } hsa_wavefront_info_t; /* uint32_t */

typedef enum { HSA_FP_TYPE_16 = 1, HSA_FP_TYPE_32 = 2, HSA_FP_TYPE_64 = 4 } hsa_fp_type_t;
typedef enum { HSA_FLUSH_MODE_FTZ = 1, HSA_FLUSH_MODE_NON_FTZ = 2 } hsa_flush_mode_t;
typedef enum { HSA_ROUND_METHOD_SINGLE = 1, HSA_ROUND_METHOD_DOUBLE = 2 } hsa_round_method_t;

typedef enum {
    HSA_AMD_COHERENCY_TYPE_COHERENT = 0,
    HSA_AMD_COHERENCY_TYPE_NONCOHERENT = 1
} hsa_amd_coherency_type_t;

/* ---- memory --------------------------------------------------------------------------------- */

typedef enum {
    HSA_REGION_SEGMENT_GLOBAL = 0,
    HSA_REGION_SEGMENT_READONLY = 1,
    HSA_REGION_SEGMENT_PRIVATE = 2,
    HSA_REGION_SEGMENT_GROUP = 3,
    HSA_REGION_SEGMENT_KERNARG = 4
} hsa_region_segment_t;

enum hsa_region_global_flag {
    HSA_REGION_GLOBAL_FLAG_KERNARG = 1,
    HSA_REGION_GLOBAL_FLAG_FINE_GRAINED = 2,
    HSA_REGION_GLOBAL_FLAG_COARSE_GRAINED = 4
};

typedef uint32_t hsa_region_info_t;
enum {
    HSA_REGION_INFO_SEGMENT = 0,                          /* hsa_region_segment_t */
    HSA_REGION_INFO_GLOBAL_FLAGS = 1,                     /* uint32_t */
    HSA_REGION_INFO_SIZE = 2,                             /* size_t */
    HSA_REGION_INFO_ALLOC_MAX_SIZE = 4,                   /* size_t */
    HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED = 5,            /* bool */
    HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE = 6,            /* size_t */
    HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT = 7,          /* size_t */
    HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE = 8, /* uint32_t */
    HSA_AMD_REGION_INFO_HOST_ACCESSIBLE = 0xa000,         /* bool */
    HSA_AMD_REGION_INFO_BASE = 0xa001,                    /* void * */
    HSA_AMD_REGION_INFO_BUS_WIDTH = 0xa002,               /* uint32_t, bits */
    HSA_AMD_REGION_INFO_MAX_CLOCK_FREQUENCY = 0xa003      /* uint32_t, MHz */
};

typedef enum {
    HSA_AMD_SEGMENT_GLOBAL = 0,
    HSA_AMD_SEGMENT_READONLY = 1,
    HSA_AMD_SEGMENT_PRIVATE = 2,
    HSA_AMD_SEGMENT_GROUP = 3
} hsa_amd_segment_t;

enum hsa_amd_memory_pool_global_flag {
    HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT = 1,
    HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED = 2,
    HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED = 4,
    HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED = 8
};

typedef uint32_t hsa_amd_memory_pool_info_t;
enum {
    HSA_AMD_MEMORY_POOL_INFO_SEGMENT = 0,                   /* hsa_amd_segment_t */
    HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS = 1,              /* uint32_t */
    HSA_AMD_MEMORY_POOL_INFO_SIZE = 2,                      /* size_t */
    HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED = 5,     /* bool */
    HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE = 6,     /* size_t */
    HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT = 7,   /* size_t */
    HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL = 15,        /* bool */
    HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE = 16,           /* size_t */
    HSA_AMD_MEMORY_POOL_INFO_LOCATION = 17,                 /* uint32_t; 0: host, 1: GPU */
    HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE = 18 /* size_t */
};

typedef enum {
    HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED = 0,
    HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT = 1,
    HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT = 2
} hsa_amd_memory_pool_access_t;

typedef enum {
    HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS = 0,        /* hsa_amd_memory_pool_access_t */
    HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS = 1, /* uint32_t */
    HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO = 2      /* one link info for each hop */
} hsa_amd_agent_memory_pool_info_t;

typedef enum {
    HSA_AMD_LINK_INFO_TYPE_HYPERTRANSPORT = 0,
    HSA_AMD_LINK_INFO_TYPE_QPI = 1,
    HSA_AMD_LINK_INFO_TYPE_PCIE = 2,
    HSA_AMD_LINK_INFO_TYPE_INFINBAND = 3,
    HSA_AMD_LINK_INFO_TYPE_XGMI = 4
} hsa_amd_link_info_type_t;

typedef struct hsa_amd_memory_pool_link_info {
    uint32_t min_latency, max_latency;     /* ns */
    uint32_t min_bandwidth, max_bandwidth; /* MB/s */
    bool atomic_support_32bit, atomic_support_64bit, coherent_support;
    hsa_amd_link_info_type_t link_type;
    uint32_t numa_distance;
} hsa_amd_memory_pool_link_info_t;

typedef enum {
    HSA_ACCESS_PERMISSION_NONE = 0,
    HSA_ACCESS_PERMISSION_RO = 1,
    HSA_ACCESS_PERMISSION_WO = 2,
    HSA_ACCESS_PERMISSION_RW = 3
} hsa_access_permission_t;

typedef enum {
    HSA_EXT_POINTER_TYPE_UNKNOWN = 0,
    HSA_EXT_POINTER_TYPE_HSA = 1,
    HSA_EXT_POINTER_TYPE_LOCKED = 2,
    HSA_EXT_POINTER_TYPE_GRAPHICS = 3,
    HSA_EXT_POINTER_TYPE_IPC = 4
} hsa_amd_pointer_type_t;

/* Callers know beginnings of different length, and say in `size` how much they have room for. */
typedef struct hsa_amd_pointer_info {
    uint32_t size;
    hsa_amd_pointer_type_t type;
    void *agentBaseAddress;
    void *hostBaseAddress;
    size_t sizeInBytes;
    void *userData;
    hsa_agent_t agentOwner;
    uint32_t global_flags;
    bool registered; /* 6.1 and later */
} hsa_amd_pointer_info_t;

typedef struct hsa_pitched_ptr {
    void *base;
    size_t pitch, slice; /* bytes from row to row, from plane to plane */
} hsa_pitched_ptr_t;

typedef enum {
    hsaHostToHost = 0,
    hsaHostToDevice = 1,
    hsaDeviceToHost = 2,
    hsaDeviceToDevice = 3
} hsa_amd_copy_direction_t;

typedef struct hsa_amd_ipc_memory {
    uint32_t handle[8];
} hsa_amd_ipc_memory_t;
typedef hsa_amd_ipc_memory_t hsa_amd_ipc_signal_t;

typedef struct hsa_amd_svm_attribute_pair {
    uint64_t attribute, value;
} hsa_amd_svm_attribute_pair_t;

/* ---- signals -------------------------------------------------------------------------------- */

typedef int64_t hsa_signal_value_t;

typedef enum {
    HSA_SIGNAL_CONDITION_EQ = 0,
    HSA_SIGNAL_CONDITION_NE = 1,
    HSA_SIGNAL_CONDITION_LT = 2,
    HSA_SIGNAL_CONDITION_GTE = 3
} hsa_signal_condition_t;
typedef uint32_t hsa_signal_condition32_t;

typedef enum { HSA_WAIT_STATE_BLOCKED = 0, HSA_WAIT_STATE_ACTIVE = 1 } hsa_wait_state_t;

enum hsa_amd_signal_attribute { HSA_AMD_SIGNAL_AMD_GPU_ONLY = 1, HSA_AMD_SIGNAL_IPC = 2 };

enum amd_signal_kind_t {
    AMD_SIGNAL_KIND_INVALID = 0,
    AMD_SIGNAL_KIND_USER = 1,
    AMD_SIGNAL_KIND_DOORBELL = -1,
    AMD_SIGNAL_KIND_LEGACY_DOORBELL = -2
};

/* What a signal's handle is the address of. */
typedef struct amd_signal {
    _Alignas(64) int64_t kind; /* enum amd_signal_kind_t */
    union {
        volatile int64_t value;
        volatile uint64_t *hardware_doorbell_ptr;
    };
    uint64_t event_mailbox_ptr;
    uint32_t event_id;
    uint32_t reserved1;
    uint64_t start_ts, end_ts; /* of the kernel or the copy that it is the signal of */
    union {
        struct amd_queue *queue_ptr; /* of a doorbell */
        uint64_t reserved2;
    };
    uint32_t reserved3[2];
} amd_signal_t;

/* True: call it again when the condition is met the next time. */
typedef bool (*hsa_amd_signal_handler)(hsa_signal_value_t value, void *arg);

/* ---- queues --------------------------------------------------------------------------------- */

typedef enum {
    HSA_QUEUE_TYPE_MULTI = 0,
    HSA_QUEUE_TYPE_SINGLE = 1,
    HSA_QUEUE_TYPE_COOPERATIVE = 2
} hsa_queue_type_t;
typedef uint32_t hsa_queue_type32_t;

enum hsa_queue_feature {
    HSA_QUEUE_FEATURE_KERNEL_DISPATCH = 1,
    HSA_QUEUE_FEATURE_AGENT_DISPATCH = 2
};

typedef struct hsa_queue {
    hsa_queue_type32_t type;
    uint32_t features;
    void *base_address; /* of `size` packets */
    hsa_signal_t doorbell_signal;
    uint32_t size;
    uint32_t reserved1;
    uint64_t id;
} hsa_queue_t;

/* What lies behind a queue of AMD's runtime. */
typedef struct amd_queue {
    _Alignas(64) hsa_queue_t hsa_queue;
    uint32_t reserved1[4];
    volatile uint64_t write_dispatch_id;
    uint32_t group_segment_aperture_base_hi, private_segment_aperture_base_hi;
    uint32_t max_cu_id, max_wave_id;
    volatile uint64_t max_legacy_doorbell_dispatch_id_plus_1;
    volatile uint32_t legacy_doorbell_lock;
    uint32_t reserved2[9];
    volatile uint64_t read_dispatch_id;
    uint32_t read_dispatch_id_field_base_byte_offset;
    uint32_t compute_tmpring_size;
    uint32_t scratch_resource_descriptor[4];
    uint64_t scratch_backing_memory_location, scratch_backing_memory_byte_size;
    uint32_t scratch_wave64_lane_byte_size;
    uint32_t queue_properties;
    uint32_t reserved3[2];
    hsa_signal_t queue_inactive_signal;
    uint32_t reserved4[14];
} amd_queue_t;

typedef enum {
    HSA_AMD_QUEUE_PRIORITY_LOW = 0,
    HSA_AMD_QUEUE_PRIORITY_NORMAL = 1,
    HSA_AMD_QUEUE_PRIORITY_HIGH = 2
} hsa_amd_queue_priority_t;

typedef struct hsa_amd_profiling_dispatch_time {
    uint64_t start, end; /* of the system's time stamps */
} hsa_amd_profiling_dispatch_time_t;
typedef hsa_amd_profiling_dispatch_time_t hsa_amd_profiling_async_copy_time_t;

typedef uint32_t hsa_amd_sdma_engine_id_t; /* a bit for each engine */

/* ---- packets -------------------------------------------------------------------------------- */

typedef enum {
    HSA_PACKET_TYPE_VENDOR_SPECIFIC = 0,
    HSA_PACKET_TYPE_INVALID = 1,
    HSA_PACKET_TYPE_KERNEL_DISPATCH = 2,
    HSA_PACKET_TYPE_BARRIER_AND = 3,
    HSA_PACKET_TYPE_AGENT_DISPATCH = 4,
    HSA_PACKET_TYPE_BARRIER_OR = 5
} hsa_packet_type_t;

enum hsa_amd_packet_type { HSA_AMD_PACKET_TYPE_BARRIER_VALUE = 2 }; /* vendor specific ones */

/* Where the parts of a header begin, and how many bits they have. */
enum hsa_packet_header {
    HSA_PACKET_HEADER_TYPE = 0,
    HSA_PACKET_HEADER_BARRIER = 8,
    HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE = 9,
    HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE = 11
};
enum hsa_packet_header_width {
    HSA_PACKET_HEADER_WIDTH_TYPE = 8,
    HSA_PACKET_HEADER_WIDTH_BARRIER = 1,
    HSA_PACKET_HEADER_WIDTH_SCACQUIRE_FENCE_SCOPE = 2,
    HSA_PACKET_HEADER_WIDTH_SCRELEASE_FENCE_SCOPE = 2
};
enum hsa_fence_scope {
    HSA_FENCE_SCOPE_NONE = 0,
    HSA_FENCE_SCOPE_AGENT = 1,
    HSA_FENCE_SCOPE_SYSTEM = 2
};
enum {
    HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS = 0,
    HSA_KERNEL_DISPATCH_PACKET_SETUP_WIDTH_DIMENSIONS = 2
};

typedef struct hsa_kernel_dispatch_packet {
    uint16_t header;
    uint16_t setup;
    uint16_t workgroup_size_x, workgroup_size_y, workgroup_size_z;
    uint16_t reserved0;
    uint32_t grid_size_x, grid_size_y, grid_size_z; /* in work items */
    uint32_t private_segment_size, group_segment_size;
    uint64_t kernel_object;
    void *kernarg_address;
    uint64_t reserved2;
    hsa_signal_t completion_signal;
} hsa_kernel_dispatch_packet_t;

typedef struct hsa_agent_dispatch_packet {
    uint16_t header;
    uint16_t type;
    uint32_t reserved0;
    void *return_address;
    uint64_t arg[4];
    uint64_t reserved2;
    hsa_signal_t completion_signal;
} hsa_agent_dispatch_packet_t;

typedef struct hsa_barrier_and_packet {
    uint16_t header;
    uint16_t reserved0;
    uint32_t reserved1;
    hsa_signal_t dep_signal[5];
    uint64_t reserved2;
    hsa_signal_t completion_signal;
} hsa_barrier_and_packet_t;
typedef hsa_barrier_and_packet_t hsa_barrier_or_packet_t;

typedef struct hsa_amd_vendor_packet_header {
    uint16_t header;
    uint8_t AmdFormat; /* enum hsa_amd_packet_type */
    uint8_t reserved;
} hsa_amd_vendor_packet_header_t;

typedef struct hsa_amd_barrier_value_packet {
    hsa_amd_vendor_packet_header_t header;
    uint32_t reserved0;
    hsa_signal_t signal;
    hsa_signal_value_t value, mask;
    hsa_signal_condition32_t cond;
    uint32_t reserved1;
    uint64_t reserved2, reserved3;
    hsa_signal_t completion_signal;
} hsa_amd_barrier_value_packet_t;

/* ---- code ----------------------------------------------------------------------------------- */

typedef enum {
    HSA_EXECUTABLE_STATE_UNFROZEN = 0,
    HSA_EXECUTABLE_STATE_FROZEN = 1
} hsa_executable_state_t;

typedef enum {
    HSA_EXECUTABLE_INFO_PROFILE = 1,                    /* hsa_profile_t */
    HSA_EXECUTABLE_INFO_STATE = 2,                      /* hsa_executable_state_t */
    HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE = 3 /* hsa_default_float_rounding_mode_t */
} hsa_executable_info_t;

typedef enum {
    HSA_SYMBOL_KIND_VARIABLE = 0,
    HSA_SYMBOL_KIND_KERNEL = 1,
    HSA_SYMBOL_KIND_INDIRECT_FUNCTION = 2
} hsa_symbol_kind_t;
typedef enum { HSA_SYMBOL_LINKAGE_MODULE = 0, HSA_SYMBOL_LINKAGE_PROGRAM = 1 } hsa_symbol_linkage_t;
typedef enum {
    HSA_VARIABLE_ALLOCATION_AGENT = 0,
    HSA_VARIABLE_ALLOCATION_PROGRAM = 1
} hsa_variable_allocation_t;
typedef enum {
    HSA_VARIABLE_SEGMENT_GLOBAL = 0,
    HSA_VARIABLE_SEGMENT_READONLY = 1
} hsa_variable_segment_t;

typedef enum {
    HSA_EXECUTABLE_SYMBOL_INFO_TYPE = 0,                         /* hsa_symbol_kind_t */
    HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH = 1,                  /* uint32_t, without the zero */
    HSA_EXECUTABLE_SYMBOL_INFO_NAME = 2,                         /* char[], without a zero */
    HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH = 3,           /* uint32_t */
    HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME = 4,                  /* char[] */
    HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE = 5,                      /* hsa_symbol_linkage_t */
    HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION = 6,          /* hsa_variable_allocation_t */
    HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT = 7,             /* hsa_variable_segment_t */
    HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT = 8,           /* uint32_t */
    HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE = 9,                /* uint32_t */
    HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST = 10,           /* bool */
    HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE = 11, /* uint32_t */
    HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT = 12,  /* uint32_t */
    HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE = 13,         /* uint32_t */
    HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE = 14,       /* uint32_t */
    HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK = 15,          /* bool */
    HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_CALL_CONVENTION = 16, /* uint32_t */
    HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION = 17,                     /* bool */
    HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION = 18,            /* uint32_t */
    HSA_EXECUTABLE_SYMBOL_INFO_AGENT = 20,                             /* hsa_agent_t */
    HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS = 21,                  /* uint64_t */
    HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT = 22,                     /* uint64_t */
    HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_OBJECT = 23           /* uint64_t */
} hsa_executable_symbol_info_t;

typedef enum {
    HSA_CODE_OBJECT_INFO_VERSION = 0,
    HSA_CODE_OBJECT_INFO_TYPE = 1,
    HSA_CODE_OBJECT_INFO_ISA = 2,
    HSA_CODE_OBJECT_INFO_MACHINE_MODEL = 3,
    HSA_CODE_OBJECT_INFO_PROFILE = 4,
    HSA_CODE_OBJECT_INFO_DEFAULT_FLOAT_ROUNDING_MODE = 5
} hsa_code_object_info_t;

/* The descriptor that a kernel object is the address of: 64 bytes. Offsets of what is read from it.
 */
enum {
    AMDHSA_KERNEL_DESCRIPTOR_BYTES = 64,
    AMDHSA_GROUP_SEGMENT_FIXED_SIZE = 0,   /* uint32_t */
    AMDHSA_PRIVATE_SEGMENT_FIXED_SIZE = 4, /* uint32_t */
    AMDHSA_KERNARG_SIZE = 8,               /* uint32_t; gcc leaves it 0 */
    AMDHSA_KERNEL_CODE_PROPERTIES = 56,    /* uint16_t */
    AMDHSA_USES_DYNAMIC_STACK = 1 << 11    /* of these */
};

/* The table of the loader extension; callers know beginnings of it. */
typedef struct hsa_ven_amd_loader_segment_descriptor {
    hsa_agent_t agent;
    hsa_executable_t executable;
    uint32_t code_object_storage_type; /* 0: none, 1: file, 2: memory */
    const void *code_object_storage_base;
    size_t code_object_storage_size, code_object_storage_offset;
    const void *segment_base;
    size_t segment_size;
} hsa_ven_amd_loader_segment_descriptor_t;

typedef hsa_status_t (*hsa_loaded_code_object_callback_t)(hsa_executable_t executable,
                                                          hsa_loaded_code_object_t object,
                                                          void *data);
typedef hsa_status_t (*hsa_executable_callback_t)(hsa_executable_t executable, void *data);

typedef struct hsa_ven_amd_loader_1_03_pfn {
    hsa_status_t (*hsa_ven_amd_loader_query_host_address)(const void *device, const void **host);
    hsa_status_t (*hsa_ven_amd_loader_query_segment_descriptors)(
        hsa_ven_amd_loader_segment_descriptor_t *descriptors, size_t *count);
    hsa_status_t (*hsa_ven_amd_loader_query_executable)(const void *device,
                                                        hsa_executable_t *executable);
    hsa_status_t (*hsa_ven_amd_loader_executable_iterate_loaded_code_objects)(
        hsa_executable_t executable, hsa_loaded_code_object_callback_t callback, void *data);
    hsa_status_t (*hsa_ven_amd_loader_loaded_code_object_get_info)(hsa_loaded_code_object_t object,
                                                                   uint32_t attribute, void *value);
    hsa_status_t (*hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size)(
        hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t *reader);
    hsa_status_t (*hsa_ven_amd_loader_iterate_executables)(hsa_executable_callback_t callback,
                                                           void *data);
} hsa_ven_amd_loader_1_03_pfn_t;

/* ---- events --------------------------------------------------------------------------------- */

typedef enum {
    HSA_AMD_GPU_MEMORY_FAULT_EVENT = 0,
    HSA_AMD_GPU_HW_EXCEPTION_EVENT = 1,
    HSA_AMD_GPU_MEMORY_ERROR_EVENT = 2
} hsa_amd_event_type_t;

enum hsa_amd_memory_fault_reason {
    HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT = 1 << 0,
    HSA_AMD_MEMORY_FAULT_READ_ONLY = 1 << 1,
    HSA_AMD_MEMORY_FAULT_NX = 1 << 2,
    HSA_AMD_MEMORY_FAULT_HOST_ONLY = 1 << 3,
    HSA_AMD_MEMORY_FAULT_DRAMECC = 1 << 4,
    HSA_AMD_MEMORY_FAULT_IMPRECISE = 1 << 5,
    HSA_AMD_MEMORY_FAULT_SRAMECC = 1 << 6
};

typedef struct hsa_amd_gpu_memory_fault_info {
    hsa_agent_t agent;
    uint64_t virtual_address;
    uint32_t fault_reason_mask;
} hsa_amd_gpu_memory_fault_info_t;

typedef struct hsa_amd_event {
    hsa_amd_event_type_t event_type;
    union {
        hsa_amd_gpu_memory_fault_info_t memory_fault;
    };
} hsa_amd_event_t;

/* ---- callbacks ------------------------------------------------------------------------------ */

/* Iterations end with what a callback returns, if it is not HSA_STATUS_SUCCESS. */
typedef hsa_status_t (*hsa_agent_callback_t)(hsa_agent_t agent, void *data);
typedef hsa_status_t (*hsa_isa_callback_t)(hsa_isa_t isa, void *data);
typedef hsa_status_t (*hsa_cache_callback_t)(hsa_cache_t cache, void *data);
typedef hsa_status_t (*hsa_wavefront_callback_t)(hsa_wavefront_t wavefront, void *data);
typedef hsa_status_t (*hsa_region_callback_t)(hsa_region_t region, void *data);
typedef hsa_status_t (*hsa_amd_memory_pool_callback_t)(hsa_amd_memory_pool_t pool, void *data);
typedef hsa_status_t (*hsa_executable_symbol_callback_t)(hsa_executable_t executable,
                                                         hsa_executable_symbol_t symbol,
                                                         void *data);
typedef hsa_status_t (*hsa_agent_symbol_callback_t)(hsa_executable_t executable, hsa_agent_t agent,
                                                    hsa_executable_symbol_t symbol, void *data);
typedef hsa_status_t (*hsa_code_symbol_callback_t)(hsa_code_object_t object,
                                                   hsa_code_symbol_t symbol, void *data);

typedef void (*hsa_queue_callback_t)(hsa_status_t status, hsa_queue_t *source, void *data);
typedef void (*hsa_amd_deallocation_callback_t)(void *ptr, void *user_data);
typedef hsa_status_t (*hsa_amd_system_event_callback_t)(const hsa_amd_event_t *event, void *data);

/* ---- what programs and GPUs rely on --------------------------------------------------------- */

_Static_assert(sizeof(hsa_status_t) == 4, "codes have 32 bits");
_Static_assert(sizeof(hsa_kernel_dispatch_packet_t) == 64, "a packet has 64 bytes");
_Static_assert(offsetof(hsa_kernel_dispatch_packet_t, kernel_object) == 32, "kernel");
_Static_assert(offsetof(hsa_kernel_dispatch_packet_t, kernarg_address) == 40, "arguments");
_Static_assert(offsetof(hsa_kernel_dispatch_packet_t, completion_signal) == 56, "signal");
_Static_assert(sizeof(hsa_agent_dispatch_packet_t) == 64, "a packet has 64 bytes");
_Static_assert(sizeof(hsa_barrier_and_packet_t) == 64, "a packet has 64 bytes");
_Static_assert(offsetof(hsa_barrier_and_packet_t, dep_signal) == 8, "dependencies");
_Static_assert(sizeof(hsa_amd_barrier_value_packet_t) == 64, "a packet has 64 bytes");
_Static_assert(offsetof(hsa_amd_barrier_value_packet_t, completion_signal) == 56, "signal");
_Static_assert(sizeof(hsa_queue_t) == 40, "a queue's public part");
_Static_assert(sizeof(amd_queue_t) == 256, "a queue");
_Static_assert(offsetof(amd_queue_t, write_dispatch_id) == 56, "write index");
_Static_assert(offsetof(amd_queue_t, read_dispatch_id) == 128, "read index");
_Static_assert(sizeof(amd_signal_t) == 64, "a signal");
_Static_assert(offsetof(amd_signal_t, value) == 8, "a signal's value");
_Static_assert(offsetof(amd_signal_t, start_ts) == 32, "a signal's times");
_Static_assert(sizeof(hsa_amd_pointer_info_t) == 56, "what HIP has room for");
_Static_assert(offsetof(hsa_amd_pointer_info_t, userData) == 32, "what LLVM up to 23 has room for");
_Static_assert(sizeof(hsa_amd_memory_pool_link_info_t) == 28, "a link");
_Static_assert(sizeof(hsa_amd_event_t) == 32, "an event");
_Static_assert(sizeof(hsa_ven_amd_loader_1_03_pfn_t) == 56, "the loader's table");

#endif
