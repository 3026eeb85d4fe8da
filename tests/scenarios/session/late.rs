//! Joining a running fight.

use lightyear::prelude::{NetworkTarget, Replicate};

use super::*;

/// Where the server has everybody.
fn places(game: &mut Match) -> Vec<(NetId, Vec3)> {
    let world = game.server.world_mut();
    let mut pawns = world.query::<(&NetId, &SoldierState)>();
    pawns.iter(world).map(|(id, state)| (*id, state.body.position)).collect()
}

fn join_among(things: u32) {
    let mut game = play(MatchOptions { players: 4, conditions: average(), ..MatchOptions::default() });
    for number in 0..things {
        let thing = (Health::full(number as f32 + 1.0), Replicate::to_clients(NetworkTarget::All));
        game.server.world_mut().spawn(thing);
    }
    game.arm(true);
    game.run(seconds(6.0));
    let before: Vec<_> = (0..4).map(|i| told(&game.clients[i]).corrected.len()).collect();

    let late = game.join().expect("a token");
    listen(&mut game.clients[late]);
    let (mut passed, mut complete, mut farthest) = (0.0, None, 0.0_f32);
    while passed < 4.0 {
        game.run(seconds(0.01));
        passed += 0.01;
        let places = places(&mut game);
        let playing = game.is_playing(late);
        let world = game.clients[late].world_mut();
        let all = world.query::<&Health>().iter(world).count();
        let mut drawn = world.query::<(&NetId, &DrawnPose)>();
        let mut seen = 0;
        for (id, drawn) in drawn.iter(world).filter(|(_, drawn)| drawn.pose.alive) {
            seen += 1;
            let Some((_, place)) = places.iter().find(|(other, _)| other == id) else { continue };
            farthest = farthest.max(drawn.pose.position.distance(*place));
        }
        // Somebody may be dead at that moment.
        if playing && all == things as usize + 5 && seen >= 3 {
            complete = complete.or(Some(passed));
        }
    }
    println!("{things} things: all there after {complete:?} s; at most {farthest:.2} m from its place");
    let complete = complete.unwrap_or_else(|| panic!("never complete"));
    assert!(complete <= 1.0, "after {complete} s");
    // 150 ms at a run, and who has just come back to life somewhere else.
    assert!(farthest < 30.0, "somebody was drawn {farthest} m from its place");
    for (i, before) in before.into_iter().enumerate() {
        let errors = &told(&game.clients[i]).corrected[before..];
        assert!(errors.iter().all(|error| *error < 1.0), "client {i} was corrected by {errors:?} m");
    }
}

#[test]
fn the_whole_world_is_there_within_a_second() {
    join_among(0);
}

#[test]
fn and_so_are_a_thousand_things() {
    join_among(1_000);
}
