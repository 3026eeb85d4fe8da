//! The fast path against a slow oracle that shares no geometry and no broad phase with it, in random worlds:
//! crowds that overlap, eyes inside bodies, teleports, deaths, stances, changed hit boxes, lifts, lost news, and
//! in some of them walls.
//!
//! What is not under test here: the sampler, which the oracle asks too.

mod aim;
mod bodies;
mod compare;
mod crowd;
mod oracle;

use bevy::ecs::system::SystemState;
use bevy_unlag_rewind::{MovedPoses, RewindBackend, RewindQuery};

use aim::Aim;
use compare::{Checked, Tolerance, check};
use crowd::Crowd;

/// Moments asked about in a tick, and rays in each.
const MOMENTS: usize = 5;
const RAYS: usize = 20;
/// Ticks before the first question.
const WARM_UP: u32 = 40;

/// Asks so many questions in one world.
fn ask(seed: u64, backend: RewindBackend, queries: usize) -> Checked {
    let tolerance = if backend == RewindBackend::Table { Tolerance::CLOSED_FORMS } else { Tolerance::PARRY };
    let mut crowd = Crowd::new(seed);
    crowd.app.insert_resource(backend);
    let mut state = SystemState::<RewindQuery>::new(crowd.app.world_mut());
    let mut checked = Checked::default();
    for _ in 0..WARM_UP {
        crowd.step();
    }
    while checked.queries < queries {
        crowd.step();
        let mut aim = Aim::new(&crowd);
        for _ in 0..MOMENTS {
            let asked = aim.moment(&crowd);
            let query = state.get(crowd.app.world()).expect("all its resources are there");
            check(&crowd, &query, &asked, &mut aim, (RAYS, tolerance), &mut checked);
        }
    }
    checked
}

fn ask_all(worlds: u64, backend: RewindBackend, queries: usize) -> Checked {
    let mut all = Checked::default();
    for seed in 0..worlds {
        all.add(&ask(seed, backend, queries / worlds as usize));
    }
    println!("{all:#?}");
    all
}

#[test]
fn a_million_rays_hit_what_the_oracle_says() {
    // Without optimisation it would take minutes.
    let queries = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    let all = ask_all(50, RewindBackend::Table, queries);
    assert!(all.queries >= queries);
    assert!(all.grazes * 10_000 < all.queries, "{} of {} graze", all.grazes, all.queries);
    assert!(all.ties * 2_000 < all.queries, "{} of {} ties", all.ties, all.queries);
    assert!(all.iterated * 10_000 < all.queries, "{} of {} were iterated", all.iterated, all.queries);
    all.is_complete();
}

#[test]
fn moved_colliders_hit_what_the_oracle_says() {
    let queries = 20_000;
    let all = ask_all(20, RewindBackend::MoveColliders(MovedPoses::Drawn), queries);
    assert!(all.queries >= queries);
    // Parry's rays are less exact than ours.
    assert!(all.grazes * 200 < all.queries, "{} of {} graze", all.grazes, all.queries);
}
