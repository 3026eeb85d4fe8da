//! Keys, mouse and gamepads: Bevy's devices, leafwing's bindings, and the accumulator that makes input.

mod gamepad;
mod keys_and_mouse;

use core::{f64::consts::TAU, time::Duration};

use bevy::{
    input::{
        InputPlugin,
        gamepad::{GamepadConnection, GamepadConnectionEvent},
    },
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_unlag::{
    PlayerControls, PlayerControlsPlugin,
    core::LocalControl,
    movement::{CapsuleInput, InputAccumulator},
    weapons::WeaponControls,
};

/// Input of the ticks.
#[derive(Resource, Default)]
struct Ticks(Vec<CapsuleInput>);

/// An app with a player's pawn and the default bindings.
struct Player {
    app: App,
    pad: Entity,
}

impl Player {
    fn at(frames_per_second: f64) -> Self {
        let frame = Duration::from_secs_f64(1.0 / frames_per_second);
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, InputPlugin, PlayerControlsPlugin::reading()))
            .insert_resource(TimeUpdateStrategy::ManualDuration(frame))
            .init_resource::<Ticks>()
            .add_systems(FixedUpdate, |mut own: Single<&mut InputAccumulator>, mut ticks: ResMut<Ticks>| {
                ticks.0.push(own.take_input());
            });
        let world = app.world_mut();
        world.spawn((PlayerControls::default(), PlayerControls::default_bindings()));
        world.spawn((LocalControl, InputAccumulator::default(), WeaponControls::default()));
        let pad = connect(world);
        // The first frame takes no time.
        app.update();
        Self { app, pad }
    }

    fn world(&mut self) -> &mut World {
        self.app.world_mut()
    }

    fn frames(&mut self, frames: u32) {
        (0..frames).for_each(|_| self.app.update());
    }

    /// Lets a tick pass and returns its input.
    fn tick(&mut self) -> CapsuleInput {
        self.world().resource_mut::<Ticks>().0.clear();
        while self.world().resource::<Ticks>().0.is_empty() {
            self.frames(1);
        }
        *self.world().resource::<Ticks>().0.last().expect("a tick passed")
    }

    /// Returns by how much the view turned to the right and up, in radians.
    fn turned(&mut self) -> Vec2 {
        let world = self.app.world_mut();
        let mut own = world.query::<&InputAccumulator>();
        let (yaw, pitch) = own.single(world).expect("one pawn").view();
        Vec2::new((-yaw).rem_euclid(TAU) as f32, pitch as f32)
    }

    fn weapon(&mut self) -> WeaponControls {
        let world = self.app.world_mut();
        let mut own = world.query::<&WeaponControls>();
        own.single(world).expect("one pawn").clone()
    }
}

fn connect(world: &mut World) -> Entity {
    let gamepad = world.spawn_empty().id();
    let connection =
        GamepadConnection::Connected { name: "simulated".into(), vendor_id: None, product_id: None };
    world.write_message(GamepadConnectionEvent { gamepad, connection });
    gamepad
}
