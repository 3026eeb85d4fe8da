//! Property tests: invariants for arbitrary bytes from any client at any time.
//!
//! `PROPTEST_RNG_SEED=<n>` runs other cases, `PROPTEST_CASES=<n>` sets the number of cases per property.

mod attack;
mod decoding;
mod monitored_server;
mod walker;
mod walking;

use proptest::{prelude::*, test_runner::RngSeed};

pub(crate) use walker::Walker;

/// Default seed, the same in every run so that a failure is reproducible.
const SEED: u64 = 2_026;

/// Returns a configuration with the seed and the number of cases from the environment, or the default seed
/// and `usual` cases.
fn cases(usual: u32) -> ProptestConfig {
    let defaults = ProptestConfig::default();
    let rng_seed = match defaults.rng_seed {
        RngSeed::Random => RngSeed::Fixed(SEED),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { defaults.cases } else { usual };
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..defaults }
}
