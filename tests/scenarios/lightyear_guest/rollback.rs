//! Skipping of lightyear's rollback, which runs the fixed schedules again.

use bevy::{
    app::FixedMain,
    ecs::schedule::{ScheduleLabel, Schedules},
};
use bevy_unlag::core::TickSystems;

use super::*;

/// Runs the client's fixed schedules again, as lightyear's prediction does: it marks a replay with
/// [`Rollback`].
fn replay(client: &mut App, ticks: u32, marked: bool) {
    let world = client.world_mut();
    if marked {
        world.insert_resource(Rollback::FromState);
    }
    world.resource_mut::<LocalTimeline>().apply_delta(-ticks.cast_signed());
    (0..ticks).for_each(|_| world.run_schedule(FixedMain));
    world.remove_resource::<Rollback>();
}

fn tick(game: &SteppedApps) -> u32 {
    game.clients[0].world().resource::<CurrentTick>().0.0
}

#[test]
fn replays_of_lightyear_neither_advance_the_tick_nor_move_a_pawn() {
    let mut game = play(None, true);
    for _ in 0..20 {
        let before = (tick(&game), corrections(&mut game));
        replay(&mut game.clients[0], 12, true);
        assert_eq!((tick(&game), corrections(&mut game)), before);
        game.run(Duration::from_millis(100));
    }
    assert_no_corrections(&mut game);
    // Control: without the mark, the same schedules are twelve moves.
    let (before, (moves, _)) = (tick(&game), corrections(&mut game));
    replay(&mut game.clients[0], 12, false);
    assert_eq!(tick(&game), before + 12);
    assert_eq!(corrections(&mut game).0, moves + 12);
}

/// Systems of the suite, and of the physics that it adds, in the fixed schedules: those that replays skip,
/// and the names of the others.
fn fixed_systems(app: &App) -> (usize, Vec<String>) {
    let labels = [
        FixedFirst.intern(),
        FixedPreUpdate.intern(),
        FixedUpdate.intern(),
        FixedPostUpdate.intern(),
        FixedLast.intern(),
    ];
    let (mut skipped, mut others) = (0, Vec::new());
    for schedule in labels.iter().filter_map(|label| app.world().resource::<Schedules>().get(*label)) {
        let members = schedule.graph().systems_in_set(TickSystems.intern());
        for (key, system) in schedule.systems().expect("the schedule has run") {
            let name = system.name().to_string();
            if !name.starts_with("bevy_unlag") && !name.starts_with("bevy_rapier3d") {
                continue;
            }
            if members.as_ref().is_ok_and(|members| members.contains(&key)) {
                skipped += 1;
            } else {
                others.push(name);
            }
        }
    }
    (skipped, others)
}

#[test]
fn all_fixed_systems_of_the_suite_are_skipped_in_replays() {
    let game = play(None, true);
    for app in [&game.server, &game.clients[0]] {
        let (skipped, others) = fixed_systems(app);
        assert!(skipped > 30, "{skipped} systems: the check sees nothing");
        assert!(others.is_empty(), "not in TickSystems: {others:?}");
    }
}
