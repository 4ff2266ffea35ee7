//! Hint to the processor: memory that is read soon.
//!
//! Between two frames of a server, other work evicts its memory from the caches. A read then waits for the main
//! memory. What is known to be read soon is requested early, and arrives during other work.
//!
//! Invariant: a hint changes no value and cannot fail. On other processors than x86-64, it does nothing. `unsafe` is
//! allowed in this module, because the instruction takes an address.

#![allow(unsafe_code)]

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Requests the memory of a value, without what it points to.
#[inline]
pub fn prefetch<T: ?Sized>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        let first = std::ptr::from_ref(value).cast::<i8>();
        for at in (0..size_of_val(value)).step_by(LINE) {
            // SAFETY: the address is inside the value, and the instruction is part of x86-64.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(at)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
