//! What holds for any bytes, from anybody, at any time.
//!
//! `PROPTEST_RNG_SEED=<n>` runs other cases, `PROPTEST_CASES=<n>` so many of them for each property.

mod attack;
mod decoding;
mod server;
mod walker;
mod walking;

use proptest::{prelude::*, test_runner::RngSeed};

/// The cases of a run that does not say which; the same in every run, so that a red build is one.
const SEED: u64 = 2_026;

/// The environment's wishes, or else so many cases and always the same.
fn cases(usual: u32) -> ProptestConfig {
    let defaults = ProptestConfig::default();
    let rng_seed = match defaults.rng_seed {
        RngSeed::Random => RngSeed::Fixed(SEED),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { defaults.cases } else { usual };
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..defaults }
}
