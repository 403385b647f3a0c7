"""The functions of numba's runtime that native code calls, made of the C library's alone.

They have the names and the arguments of numba's own, so that compiled code finds them in the library itself. A *block*
is a piece of memory and how often it is referred to, as numba lays it out: references, what ends it, with what, where
its entries begin, how many bytes they are. Numba makes the code that counts references, which is taken as it is.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba.core.runtime import nrtdynmod

_RUNTIME = """
%block = type { i64, ptr, ptr, ptr, i64, ptr }

declare i32 @posix_memalign(ptr, i64, i64)
declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)

; a block with its entries behind it, at a multiple of an alignment; null without memory
define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %given) {
  %found = alloca ptr
  %few = icmp ult i32 %given, 64
  %narrow = select i1 %few, i32 64, i32 %given
  %align = zext i32 %narrow to i64
  %all = add i64 %align, %size
  %over = icmp ult i64 %all, %size
  br i1 %over, label %fail, label %try
try:
  %status = call i32 @posix_memalign(ptr %found, i64 %align, i64 %all)
  %failed = icmp ne i32 %status, 0
  br i1 %failed, label %fail, label %fill
fill:
  %block = load ptr, ptr %found
  %entries = getelementptr i8, ptr %block, i64 %align
  call void @streed_fill_block(ptr %block, ptr null, ptr %entries, i64 %size)
  ret ptr %block
fail:
  ret ptr null
}

; as above, at the least alignment
define ptr @NRT_MemInfo_alloc(i64 %size) {
  %block = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 64)
  ret ptr %block
}

; memory that is no block: of the description of an error whose message is made while the code runs
define ptr @NRT_Allocate(i64 %size) {
  %found = call ptr @malloc(i64 %size)
  ret ptr %found
}

define void @NRT_Free(ptr %memory) {
  call void @free(ptr %memory)
  ret void
}

; Such a description also names a function that makes the message an object of Python's. Only numba calls it, so what it
; calls is never reached: it is here to be found.
@PyExc_RuntimeError = global ptr null

define void @PyErr_SetString(ptr %kind, ptr %message) {
  ret void
}

define ptr @PyTuple_Pack(i64 %size, ...) {
  ret ptr null
}

define ptr @PyUnicode_FromKindAndData(i32 %kind, ptr %data, i64 %size) {
  ret ptr null
}

define i64 @PyObject_Hash(ptr %object) {
  ret i64 -1
}

; a block whose entries are elsewhere, and may be moved: that of a list; `ends` is called with the entries at the end
define ptr @NRT_MemInfo_new_varsize_dtor(i64 %size, ptr %ends) {
  %entries = call ptr @malloc(i64 %size)
  %failed = icmp eq ptr %entries, null
  br i1 %failed, label %fail, label %try
try:
  %block = call ptr @malloc(i64 48)
  %none = icmp eq ptr %block, null
  br i1 %none, label %undo, label %fill
fill:
  call void @streed_fill_block(ptr %block, ptr @streed_end_list, ptr %entries, i64 %size)
  %for = getelementptr %block, ptr %block, i32 0, i32 2
  store ptr %ends, ptr %for
  ret ptr %block
undo:
  call void @free(ptr %entries)
  br label %fail
fail:
  ret ptr null
}

; new entries of such a block, which is smaller or larger than before: those of a set that grows; null without memory
define ptr @NRT_MemInfo_varsize_alloc(ptr %block, i64 %size) {
  %entries = call ptr @malloc(i64 %size)
  %failed = icmp eq ptr %entries, null
  br i1 %failed, label %fail, label %fill
fill:
  %at3 = getelementptr %block, ptr %block, i32 0, i32 3
  store ptr %entries, ptr %at3
  %at4 = getelementptr %block, ptr %block, i32 0, i32 4
  store i64 %size, ptr %at4
  ret ptr %entries
fail:
  ret ptr null
}

; the entries of such a block with as many as fit of those before: those of a list that grows; null without memory
define ptr @NRT_MemInfo_varsize_realloc(ptr %block, i64 %size) {
  %at3 = getelementptr %block, ptr %block, i32 0, i32 3
  %before = load ptr, ptr %at3
  %entries = call ptr @realloc(ptr %before, i64 %size)
  %failed = icmp eq ptr %entries, null
  br i1 %failed, label %fail, label %fill
fill:
  store ptr %entries, ptr %at3
  %at4 = getelementptr %block, ptr %block, i32 0, i32 4
  store i64 %size, ptr %at4
  ret ptr %entries
fail:
  ret ptr null
}

; releases entries that a block has, or had
define void @NRT_MemInfo_varsize_free(ptr %block, ptr %entries) {
  call void @free(ptr %entries)
  %at3 = getelementptr %block, ptr %block, i32 0, i32 3
  %now = load ptr, ptr %at3
  %same = icmp eq ptr %entries, %now
  br i1 %same, label %forget, label %done
forget:
  store ptr null, ptr %at3
  br label %done
done:
  ret void
}

define void @streed_fill_block(ptr %block, ptr %ends, ptr %entries, i64 %size) {
  store i64 1, ptr %block
  %at1 = getelementptr %block, ptr %block, i32 0, i32 1
  store ptr %ends, ptr %at1
  %at2 = getelementptr %block, ptr %block, i32 0, i32 2
  store ptr null, ptr %at2
  %at3 = getelementptr %block, ptr %block, i32 0, i32 3
  store ptr %entries, ptr %at3
  %at4 = getelementptr %block, ptr %block, i32 0, i32 4
  store i64 %size, ptr %at4
  %at5 = getelementptr %block, ptr %block, i32 0, i32 5
  store ptr null, ptr %at5
  ret void
}

define void @streed_end_list(ptr %entries, i64 %size, ptr %ends) {
  %plain = icmp eq ptr %ends, null
  br i1 %plain, label %free, label %call
call:
  call void %ends(ptr %entries)
  br label %free
free:
  call void @free(ptr %entries)
  ret void
}

; what is done with a block that nobody refers to
define void @NRT_MemInfo_call_dtor(ptr %block) {
  %at1 = getelementptr %block, ptr %block, i32 0, i32 1
  %ends = load ptr, ptr %at1
  %plain = icmp eq ptr %ends, null
  br i1 %plain, label %free, label %call
call:
  %at2 = getelementptr %block, ptr %block, i32 0, i32 2
  %for = load ptr, ptr %at2
  %at3 = getelementptr %block, ptr %block, i32 0, i32 3
  %entries = load ptr, ptr %at3
  %at4 = getelementptr %block, ptr %block, i32 0, i32 4
  %size = load i64, ptr %at4
  call void %ends(ptr %entries, i64 %size, ptr %for)
  br label %free
free:
  call void @free(ptr %block)
  ret void
}

; whether an array can be seen in another shape, and its strides then: 1 if its entries lie side by side in C order and
; are as many, else 0, which is an error to who asks
define i32 @numba_attempt_nocopy_reshape(
    i64 %nd, ptr %dims, ptr %strides, i64 %newnd, ptr %newdims, ptr %newstrides, i64 %item, i32 %fortran) {
entry:
  %count = call i64 @streed_count(i64 %nd, ptr %dims)
  %newcount = call i64 @streed_count(i64 %newnd, ptr %newdims)
  %same = icmp eq i64 %count, %newcount
  br i1 %same, label %begin, label %no
begin:
  %empty = icmp eq i64 %count, 0
  br i1 %empty, label %write, label %old
old:
  %i = phi i64 [ %nd, %begin ], [ %i1, %next ]
  %bytes = phi i64 [ %item, %begin ], [ %bytes1, %next ]
  %more = icmp sgt i64 %i, 0
  br i1 %more, label %look, label %write
look:
  %i1 = sub i64 %i, 1
  %dp = getelementptr i64, ptr %dims, i64 %i1
  %d = load i64, ptr %dp
  %sp = getelementptr i64, ptr %strides, i64 %i1
  %s = load i64, ptr %sp
  %single = icmp eq i64 %d, 1
  %fits = icmp eq i64 %s, %bytes
  %fine = or i1 %single, %fits
  br i1 %fine, label %next, label %no
next:
  %bytes1 = mul i64 %bytes, %d
  br label %old
write:
  br label %new
new:
  %j = phi i64 [ %newnd, %write ], [ %j1, %put ]
  %stride = phi i64 [ %item, %write ], [ %stride1, %put ]
  %left = icmp sgt i64 %j, 0
  br i1 %left, label %put, label %yes
put:
  %j1 = sub i64 %j, 1
  %np = getelementptr i64, ptr %newstrides, i64 %j1
  store i64 %stride, ptr %np
  %ndp = getelementptr i64, ptr %newdims, i64 %j1
  %n = load i64, ptr %ndp
  %stride1 = mul i64 %stride, %n
  br label %new
yes:
  ret i32 1
no:
  ret i32 0
}

define i64 @streed_count(i64 %nd, ptr %dims) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %next ]
  %count = phi i64 [ 1, %entry ], [ %count1, %next ]
  %more = icmp slt i64 %i, %nd
  br i1 %more, label %next, label %done
next:
  %dp = getelementptr i64, ptr %dims, i64 %i
  %d = load i64, ptr %dp
  %count1 = mul i64 %count, %d
  %i1 = add i64 %i, 1
  br label %loop
done:
  ret i64 %count
}
"""


def runtime_modules(context: Any) -> list[Any]:
    """The functions above, and those that count references, for the processor of a target context."""
    counting, _ = nrtdynmod.create_nrt_module(context)
    modules = [binding.parse_assembly(_RUNTIME), binding.parse_assembly(str(counting))]
    for module in modules:
        module.triple = binding.get_process_triple()
        module.data_layout = str(context.codegen()._target_data)
    return modules
