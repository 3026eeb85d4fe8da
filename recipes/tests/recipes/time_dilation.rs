//! Slow motion and haste of single pawns: who is hit moves, reloads and fires at a third of the speed for two seconds.

use unlag_recipes::{component, corrections, fire_along, floor, play, position, server_changes, soldiers};

// ANCHOR: game
use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{core::TimeDilation, prelude::*};

const TARGET: NetId = NetId(2);

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers))
        .add_systems(FixedLast, (slow_down, recover));
}

/// A pawn in slow motion, with the time that is left.
#[derive(Component)]
struct Slowed(Timer);

/// Puts the change into a move that the target's client has not made yet, so that both sides make the same moves.
fn slow_down(
    mut hits: MessageReader<Damage>,
    mut pawns: Query<&mut ScheduledPushes<Soldier>, Without<Slowed>>,
    mut commands: Commands,
) {
    for hit in hits.read() {
        if let Ok(mut pushes) = pawns.get_mut(hit.target) {
            pushes.push(CapsulePush::TimeDilation(TimeDilation::new(0.33)));
            commands.entity(hit.target).insert(Slowed(Timer::new(Duration::from_secs(2), TimerMode::Once)));
        }
    }
}

fn recover(
    time: Res<Time>,
    mut pawns: Query<(Entity, &mut Slowed, &mut ScheduledPushes<Soldier>)>,
    mut commands: Commands,
) {
    for (pawn, mut slowed, mut pushes) in &mut pawns {
        if slowed.0.tick(time.delta()).just_finished() {
            pushes.push(CapsulePush::TimeDilation(TimeDilation::NORMAL));
            commands.entity(pawn).remove::<Slowed>();
        }
    }
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor));
}
// ANCHOR_END: game

/// Fires once, straight ahead, two seconds after its start.
fn shooter(app: &mut App) {
    app.add_plugins(client);
    fire_along(app, Vec3::new(0.0, -0.02, -1.0), |seconds| (2.0..2.05).contains(&seconds));
}

/// Walks straight away from the shooter.
fn walker(app: &mut App) {
    app.add_plugins(client)
        .add_systems(PreUpdate, |mut input: Single<&mut InputAccumulator>| input.axes(Vec2::Y));
}

#[test]
fn hit_pawn_is_slow_on_all_machines_and_recovers_without_corrections() {
    play(server, &[shooter, walker], |game| {
        let mut slow = 0.0;
        let mut shown = [false; 2];
        let mut before = game.apps_mut().map(|app| position(app, TARGET)).collect::<Vec<_>>();
        for _ in 0..8 {
            game.run(0.5);
            let after: Vec<_> = game.apps_mut().map(|app| position(app, TARGET)).collect();
            let speeds: Vec<f32> =
                before.iter().zip(&after).map(|(before, after)| before.distance(*after) / 0.5).collect();
            println!("{speeds:?} m/s");
            if speeds.iter().all(|speed| (speed - 2.04).abs() < 0.3) {
                slow += 0.5;
                for (shown, client) in shown.iter_mut().zip(&mut game.clients) {
                    // For animations and effects.
                    let rate = component::<TimeDilation>(client, TARGET).unwrap_or_default();
                    *shown |= (rate.factor() - 0.34).abs() < 1e-3;
                }
            }
            before = after;
        }
        assert!((1.0..2.5).contains(&slow), "slow for {slow} s");
        assert_eq!(shown, [true; 2], "both screens know the rate");
        let end = component::<TimeDilation>(&mut game.clients[0], TARGET);
        assert_eq!(end, Some(TimeDilation::NORMAL));
        assert_eq!(corrections(&mut game.clients[1]), 0);
    });
}

/// The control: a change of the state on the server is not a part of any move, so the owner learns of it late.
fn careless_server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers))
        .add_systems(FixedLast, slow_down_carelessly);
}

fn slow_down_carelessly(mut hits: MessageReader<Damage>, mut pawns: Query<&mut SoldierState>) {
    for hit in hits.read() {
        if let Ok(mut state) = pawns.get_mut(hit.target) {
            state.body.time_dilation = TimeDilation::new(0.33);
        }
    }
}

#[test]
fn change_of_the_state_reaches_the_owner_late() {
    play(careless_server, &[shooter, walker], |game| {
        game.run(3.0);
        assert!(server_changes(&mut game.clients[1]) > 0);
    });
}
