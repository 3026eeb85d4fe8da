//! Fall damage: the server reads the landings of its pawns and hurts those that fell too far.

use unlag_recipes::{component, corrections, floor, play, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    core::{ExtendedEvent, StepEvent},
    movement::MoveEvent,
    prelude::*,
    weapons::{DeathCause, Hazard, HealthPlugin, WeaponSystems},
};

/// The game's number for falls, reported in `Died`.
const FALL: u8 = 1;
/// Impact speed in metres per second that is harmless, and damage for each metre per second above it.
const SAFE_SPEED: f32 = 9.0;
const DAMAGE: f32 = 15.0;

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), HealthPlugin, floor, soldiers))
        .add_systems(
            FixedLast,
            (fall.before(WeaponSystems::ApplyDamage), count.after(WeaponSystems::ApplyDamage)),
        )
        .init_resource::<Falls>();
}

/// The events of a move are the same on both sides; damage is up to the server.
fn fall(mut steps: MessageReader<StepEvent<Soldier>>, mut hazards: MessageWriter<Hazard>) {
    for step in steps.read() {
        if let ExtendedEvent::Body(MoveEvent::Landed { speed }) = step.event
            && speed > SAFE_SPEED
        {
            hazards.write(Hazard { target: step.entity, amount: (speed - SAFE_SPEED) * DAMAGE, cause: FALL });
        }
    }
}

/// Number of deaths by a fall.
#[derive(Resource, Default)]
struct Falls(usize);

fn count(mut deaths: MessageReader<Died>, mut falls: ResMut<Falls>) {
    falls.0 += deaths.read().filter(|death| death.cause == DeathCause::Hazard(FALL)).count();
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor));
}
// ANCHOR_END: game

#[test]
fn low_jump_is_harmless_a_high_fall_hurts_and_a_higher_one_kills() {
    play(server, &[client], |game| {
        // Launched at such a speed the soldier lands as fast.
        for (speed, health, falls) in [(6.0, 100.0, 0), (11.0, 70.0, 0), (16.0, 0.0, 1)] {
            let world = game.server.world_mut();
            for mut pushes in world.query::<&mut ScheduledPushes<Soldier>>().iter_mut(world) {
                pushes.push(CapsulePush::Launch(Vec3::Y * speed));
            }
            game.run(4.0);
            for app in game.apps_mut() {
                let left = component::<Health>(app, NetId(1)).expect("a soldier with health").current;
                assert!((left - health).abs() < 6.0, "{left} after {speed} m/s");
            }
            assert_eq!(game.server.world().resource::<Falls>().0, falls);
        }
        assert_eq!(corrections(&mut game.clients[0]), 0);
    });
}
