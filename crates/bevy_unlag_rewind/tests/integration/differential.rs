//! Differential tests of the fast query path against a slow oracle that shares neither geometry nor broad
//! phase with it. The random worlds contain overlapping crowds, ray origins inside targets, teleports,
//! deaths, crouching, changed hit boxes, lifts, lost updates and, in some of them, walls.
//!
//! Not under test here: the sampler, which the oracle uses, too.

mod comparison;
mod hit_box_sets;
mod oracle;
mod random_queries;
mod random_world;

use bevy::ecs::system::SystemState;
use bevy_unlag_rewind::{MovedPoses, RewindBackend, RewindQuery};

use comparison::{ComparisonStats, Tolerance, assert_rays_agree};
use random_queries::QueryGenerator;
use random_world::RandomWorld;

/// Query times per tick, and rays per query time.
const QUERY_TIMES: usize = 5;
const RAYS: usize = 20;
/// Ticks before the first query.
const WARM_UP: u32 = 40;

/// Compares `queries` queries in one world.
fn compare_world(seed: u64, backend: RewindBackend, queries: usize) -> ComparisonStats {
    let tolerance = if backend == RewindBackend::Table { Tolerance::CLOSED_FORMS } else { Tolerance::PARRY };
    let mut crowd = RandomWorld::new(seed);
    crowd.app.insert_resource(backend);
    let mut state = SystemState::<RewindQuery>::new(crowd.app.world_mut());
    let mut checked = ComparisonStats::default();
    for _ in 0..WARM_UP {
        crowd.step();
    }
    while checked.queries < queries {
        crowd.step();
        let mut aim = QueryGenerator::new(&crowd);
        for _ in 0..QUERY_TIMES {
            let asked = aim.moment(&crowd);
            let query = state.get(crowd.app.world()).expect("the query's resources must exist");
            assert_rays_agree(&crowd, &query, &asked, &mut aim, (RAYS, tolerance), &mut checked);
        }
    }
    checked
}

fn compare_worlds(worlds: u64, backend: RewindBackend, queries: usize) -> ComparisonStats {
    let mut all = ComparisonStats::default();
    for seed in 0..worlds {
        all.add(&compare_world(seed, backend, queries / worlds as usize));
    }
    println!("{all:#?}");
    all
}

/// Compares so many rays in fifty worlds.
fn assert_agreement_with_the_oracle(queries: usize) {
    let all = compare_worlds(50, RewindBackend::Table, queries);
    assert!(all.queries >= queries);
    assert!(all.grazes * 10_000 < all.queries, "{} of {} answers graze a shape", all.grazes, all.queries);
    assert!(all.ties * 2_000 < all.queries, "{} of {} answers are ties", all.ties, all.queries);
    assert!(
        all.iterated * 10_000 < all.queries,
        "{} of {} answers depend on an iterative test",
        all.iterated,
        all.queries
    );
    all.assert_coverage();
}

#[test]
fn rays_agree_with_the_oracle() {
    assert_agreement_with_the_oracle(100_000);
}

#[test]
#[ignore = "long: a million rays"]
fn a_million_rays_agree_with_the_oracle() {
    assert_agreement_with_the_oracle(1_000_000);
}

#[test]
fn moved_colliders_agree_with_the_oracle() {
    let queries = 20_000;
    let all = compare_worlds(20, RewindBackend::MoveColliders(MovedPoses::Drawn), queries);
    assert!(all.queries >= queries);
    // Parry's ray casts are less exact.
    assert!(all.grazes * 200 < all.queries, "{} of {} answers graze a shape", all.grazes, all.queries);
}
