"""Devices: there is one, with the limits of a GPU of the table."""

from __future__ import annotations

import hashlib
import re
import struct

from pyptx.cuda_device.server.device_attributes import attribute
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session

__all__ = ["check_device"]

_BUS_ID = "0000:01:00.0"


def check_device(device: int) -> None:
    """Raise DriverError for another device than 0."""
    if device != 0:
        raise DriverError("INVALID_DEVICE", f"device {device} does not exist; there is one simulated device, 0")


@handles("cuDeviceGet")
def device(session: Session, ordinal: int) -> int:
    check_device(ordinal)
    return 0


@handles("cuDeviceGetCount")
def device_count(session: Session) -> int:
    return 1


@handles("cuDeviceGetName")
def device_name(session: Session, length: int, device: int) -> bytes:
    check_device(device)
    return f"NVIDIA {session.gpu.name} (simulated by pyptx)".encode()


@handles("cuDeviceGetUuid", "cuDeviceGetUuid_v2")
def device_uuid(session: Session, device: int) -> bytes:
    check_device(device)
    return hashlib.sha256(f"pyptx {session.gpu.name}".encode()).digest()[:16]


@handles("cuDeviceGetLuid")
def device_luid(session: Session, device: int) -> tuple[bytes, int]:
    raise DriverError("NOT_SUPPORTED")  # Windows only


@handles("cuDeviceTotalMem_v2")
def total_memory(session: Session, device: int) -> int:
    check_device(device)
    return session.memory.total


@handles("cuDeviceGetAttribute")
def device_attribute(session: Session, number: int, device: int) -> int:
    check_device(device)
    value = attribute(session.gpu, number)
    if value is None:
        raise DriverError("INVALID_VALUE", f"device attribute {number} is unknown")
    return value


@handles("cuDeviceComputeCapability")
def compute_capability(session: Session, device: int) -> tuple[int, int]:
    check_device(device)
    return attribute(session.gpu, 75) or 0, attribute(session.gpu, 76) or 0


@handles("cuDeviceGetTexture1DLinearMaxWidth")
def linear_texture_width(session: Session, element_format: int, channels: int, device: int) -> int:
    check_device(device)
    return attribute(session.gpu, 69) or 0


@handles("cuDeviceGetPCIBusId")
def pci_bus_id(session: Session, length: int, device: int) -> bytes:
    check_device(device)
    if length <= len(_BUS_ID):
        raise DriverError("INVALID_VALUE", f"cuDeviceGetPCIBusId: {length} bytes for a text of {len(_BUS_ID) + 1}")
    return _BUS_ID.encode()


@handles("cuDeviceGetByPCIBusId")
def device_by_pci_bus_id(session: Session, name: bytes) -> int:
    text = name.decode(errors="replace").lower()
    if not re.fullmatch(r"([0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}(\.[0-9a-f])?", text):
        raise DriverError("INVALID_VALUE", f"{text!r} is not a PCI bus id such as {_BUS_ID}")
    whole = (text if text.count(":") == 2 else f"0000:{text}") + ".0" * ("." not in text)
    if whole[-len(_BUS_ID) :] != _BUS_ID:
        raise DriverError("INVALID_DEVICE", f"no device has the PCI bus id {name!r}; the simulated one has {_BUS_ID}")
    return 0


@handles("cuDeviceCanAccessPeer")
def can_access_peer(session: Session, device: int, peer: int) -> int:
    check_device(device)
    check_device(peer)
    return 0


@handles("cuDeviceGetP2PAttribute")
def peer_attribute(session: Session, number: int, source: int, destination: int) -> int:
    raise DriverError("INVALID_DEVICE", "there is one simulated device, which is no peer of itself")


# atomics over links, and SMs of processes: the device has neither

_ATOMIC_OPERATIONS = 13  # CU_ATOMIC_OPERATION_MAX


@handles("cuDeviceGetHostAtomicCapabilities")
def host_atomics(session: Session, result: int, operations: int, count: int, device: int) -> None:
    check_device(device)
    wanted = struct.unpack(f"<{count}I", session.read(operations, 4 * count))
    if not count or max(wanted) >= _ATOMIC_OPERATIONS:
        raise DriverError("INVALID_VALUE", f"cuDeviceGetHostAtomicCapabilities: operations {wanted[:16]}")
    session.write(result, bytes(4 * count))  # none, as HOST_NATIVE_ATOMIC_SUPPORTED is 0


@handles("cuDeviceGetP2PAtomicCapabilities")
def peer_atomics(session: Session, result: int, operations: int, count: int, source: int, destination: int) -> None:
    raise DriverError("INVALID_DEVICE", "there is one simulated device, which is no peer of itself")


@handles("cuDeviceGetExecAffinitySupport")
def affinity_support(session: Session, kind: int, device: int) -> int:
    check_device(device)
    if kind:
        raise DriverError("INVALID_VALUE", f"cuDeviceGetExecAffinitySupport: type {kind} is unknown")
    return 0


@handles("cuCtxGetExecAffinity")
def affinity(session: Session, place: int, kind: int) -> None:
    raise DriverError(
        "UNSUPPORTED_EXEC_AFFINITY", "cuCtxGetExecAffinity: there is no MPS, which limits SMs of processes"
    )


_PROPERTIES = range(1, 15)  # CUdevice_attribute of the fields of CUdevprop


@handles("cuDeviceGetProperties")
def properties(session: Session, device: int) -> bytes:
    check_device(device)
    return struct.pack("<14i", *(attribute(session.gpu, number) or 0 for number in _PROPERTIES))


@handles("cuProfilerStart", "cuProfilerStop")
def profile(session: Session) -> None:
    """Do nothing: there is no profiler to start."""
