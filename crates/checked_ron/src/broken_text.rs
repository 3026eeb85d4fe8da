//! Broken variants of a text, for tests that a parser survives them.

use rand::{Rng, SeedableRng, rngs::SmallRng};

/// Returns `count` variants of a text with one to three letters replaced, removed or swapped, and some cut
/// off. The same seed gives the same variants.
pub fn mangled(text: &str, count: usize, seed: u64) -> impl Iterator<Item = String> {
    let mut rng = SmallRng::seed_from_u64(seed);
    (0..count).map(move |_| {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..rng.random_range(1..=3) {
            if bytes.len() < 2 {
                break;
            }
            let at = rng.random_range(0..bytes.len() - 1);
            match rng.random_range(0..20) {
                0..8 => bytes[at] = b"()[]{}:,-.0159eENanif\"\\/* \n"[rng.random_range(0..27)],
                8..14 => drop(bytes.remove(at)),
                14..19 => bytes.swap(at, at + 1),
                _ => bytes.truncate(at.max(2)),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
