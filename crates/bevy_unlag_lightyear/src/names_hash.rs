//! Hash of registered names, by which client and server compare their registrations.

/// Returns a hash of names in their order.
pub(crate) fn hash_of_names(names: impl Iterator<Item = &'static str>) -> u64 {
    let bytes = names.flat_map(|name| name.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
