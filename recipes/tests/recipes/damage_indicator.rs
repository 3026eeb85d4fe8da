//! A damage indicator: the player who is hit sees from where.

use unlag_recipes::{fire_along, floor, play, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{core::Wire, net::MessageRules, prelude::*};

/// To the player who is hit: how much, and whence.
#[derive(Wire, Clone)]
struct Hurt {
    amount: u8,
    /// Direction from the player to the shooter.
    #[wire(unit, bits = 16)]
    from: Vec3,
}

/// On both sides.
fn messages(app: &mut App) {
    app.add_game_message::<Hurt>(MessageRules::to_owner());
}

/// Only the owner of the pawn gets the message.
fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers, messages))
        .add_systems(FixedLast, report);
}

fn report(mut hits: MessageReader<Damage>, mut owner: Outbox<Hurt>) {
    for hit in hits.read() {
        // A cast saturates.
        owner.send_about(hit.target, &Hurt { amount: hit.amount as u8, from: -hit.direction });
    }
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor, messages))
        .add_systems(Update, indicate);
}

/// An arrow around the crosshair. A game fades it out.
#[derive(Component)]
struct DamageIndicator {
    /// Angle in radians by which it is turned to the right; 0 is ahead.
    angle: f32,
    /// Share of full health that is lost: how bright it is.
    strength: f32,
}

fn indicate(
    mut messages: MessageReader<Received<Hurt>>,
    own: Single<&InputAccumulator, With<LocalControl>>,
    mut commands: Commands,
) {
    let ahead = own.current().look();
    for hurt in messages.read() {
        let angle = ahead.xz().angle_to(hurt.message.from.xz());
        commands.spawn(DamageIndicator { angle, strength: f32::from(hurt.message.amount) / 100.0 });
    }
}
// ANCHOR_END: game

fn shooter(app: &mut App) {
    app.add_plugins(client);
    fire_along(app, Vec3::new(0.0, -0.03, -1.0), |_| true);
}

/// The target looks along +X: the shooter is to its right.
fn target(app: &mut App) {
    app.add_plugins(client)
        .add_systems(PreUpdate, |mut input: Single<&mut InputAccumulator>| input.look_along(Vec3::X));
}

#[test]
fn target_sees_an_arrow_to_its_right_and_nobody_else_sees_one() {
    play(server, &[shooter, target, client], |game| {
        game.run(1.0);
        let arrows = |app: &mut App| {
            let world = app.world_mut();
            let mut arrows = world.query::<&DamageIndicator>();
            arrows.iter(world).map(|arrow| (arrow.angle.to_degrees(), arrow.strength)).collect::<Vec<_>>()
        };
        let seen = arrows(&mut game.clients[1]);
        let is_right = |(angle, strength): &(f32, f32)| (angle - 90.0).abs() < 5.0 && *strength >= 0.2;
        assert!(seen.len() > 5 && seen.iter().all(is_right), "{seen:?}");
        for bystander in [0, 2] {
            assert_eq!(arrows(&mut game.clients[bystander]), []);
        }
    });
}
