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
    #[wire(range = -1.0..=1.0, bits = 8)]
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

/// An arrow around the crosshair, turned to the right by an angle in radians: 0 is ahead. A game fades it out.
#[derive(Component)]
struct DamageIndicator(f32);

fn indicate(
    mut messages: MessageReader<Received<Hurt>>,
    own: Single<&InputAccumulator, With<LocalControl>>,
    mut commands: Commands,
) {
    let ahead = own.current().look();
    for hurt in messages.read() {
        let (ahead, from) = (ahead.xz(), hurt.message.from.xz());
        commands.spawn(DamageIndicator(ahead.angle_to(from)));
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
            world
                .query::<&DamageIndicator>()
                .iter(world)
                .map(|arrow| arrow.0.to_degrees())
                .collect::<Vec<_>>()
        };
        let seen = arrows(&mut game.clients[1]);
        assert!(seen.len() > 5 && seen.iter().all(|angle| (angle - 90.0).abs() < 5.0), "{seen:?}");
        for bystander in [0, 2] {
            assert_eq!(arrows(&mut game.clients[bystander]), []);
        }
    });
}
