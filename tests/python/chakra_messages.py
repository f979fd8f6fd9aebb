"""The messages of Chakra's traces for Google's protobuf, which shares no code with Headway.

Numbers of fields: et_def.proto of mlcommons/chakra, 2024.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FIELD = descriptor_pb2.FieldDescriptorProto
MESSAGES: dict[str, dict[int, tuple[str, int | str, bool]]] = {
    "AttributeProto": {
        1: ("name", FIELD.TYPE_STRING, False),
        7: ("int32_val", FIELD.TYPE_INT32, False),
        9: ("int64_val", FIELD.TYPE_INT64, False),
        11: ("uint32_val", FIELD.TYPE_UINT32, False),
        13: ("uint64_val", FIELD.TYPE_UINT64, False),
        27: ("bool_val", FIELD.TYPE_BOOL, False),
        29: ("string_val", FIELD.TYPE_STRING, False),
    },
    "GlobalMetadata": {
        1: ("version", FIELD.TYPE_STRING, False),
        2: ("attr", "AttributeProto", True),
    },
    "IOInfo": {1: ("values", FIELD.TYPE_STRING, False)},
    "Node": {
        1: ("id", FIELD.TYPE_UINT64, False),
        2: ("name", FIELD.TYPE_STRING, False),
        3: ("type", FIELD.TYPE_INT32, False),
        4: ("ctrl_deps", FIELD.TYPE_UINT64, True),
        5: ("data_deps", FIELD.TYPE_UINT64, True),
        6: ("start_time_micros", FIELD.TYPE_UINT64, False),
        7: ("duration_micros", FIELD.TYPE_UINT64, False),
        8: ("inputs", "IOInfo", False),
        10: ("attr", "AttributeProto", True),
    },
}


def messages() -> Any:
    """Classes `AttributeProto`, `GlobalMetadata`, `IOInfo` and `Node`."""
    file = descriptor_pb2.FileDescriptorProto(
        name="et_def.proto", package="ChakraProtoMsg", syntax="proto3"
    )
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        if name == "AttributeProto":
            message.oneof_decl.add(name="value")  # so that a zero is written, too
        for number, (field, kind, repeated) in fields.items():
            label = FIELD.LABEL_REPEATED if repeated else FIELD.LABEL_OPTIONAL
            added = message.field.add(name=field, number=number, label=label)
            if field.endswith("_val"):
                added.oneof_index = 0
            if isinstance(kind, str):
                added.type = FIELD.TYPE_MESSAGE
                added.type_name = f".ChakraProtoMsg.{kind}"
            else:
                added.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return SimpleNamespace(
        **{
            name: message_factory.GetMessageClass(
                pool.FindMessageTypeByName(f"ChakraProtoMsg.{name}")
            )
            for name in MESSAGES
        }
    )
