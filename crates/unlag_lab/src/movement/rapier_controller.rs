//! Rapier's `KinematicCharacterController` on the same moves.

use bevy::ecs::system::SystemState;
use bevy_rapier3d::{
    parry::{math::Pose, query::DefaultQueryDispatcher, shape::Capsule},
    plugin::ReadRapierContext,
    rapier::{
        control::{CharacterAutostep, CharacterLength, KinematicCharacterController},
        prelude::{QueryFilter, QueryPipeline},
    },
};

use super::{
    levels::DT,
    unlag_mover::{Move, UnlagMover},
};
use crate::prelude::*;

/// Rapier's controller in a level.
pub struct RapierController<'a> {
    controller: KinematicCharacterController,
    queries: QueryPipeline<'a>,
    capsule: Capsule,
    /// Fall from rest within one move, in metres.
    fall: f32,
    half_height: f32,
}

/// Move requested from rapier's controller.
#[derive(Clone, Copy)]
pub struct MoveRequest {
    from: Pose,
    /// Requested motion in metres.
    motion: Vec3,
}

impl MoveRequest {
    /// Returns the start position: the middle of the capsule.
    pub fn place(&self) -> Vec3 {
        self.from.translation
    }
}

/// Calls `f` with rapier's controller in an app, with our step height, snap distance and steepest floor.
///
/// # Errors
/// Returns the error of `f`, or a message if the app has no rapier world.
pub fn with_rapier_controller<R>(
    app: &mut App,
    f: impl FnOnce(&RapierController<'_>) -> Result<R, String>,
) -> Result<R, String> {
    let mut system = SystemState::<(ReadRapierContext<'static, 'static>, Res<'static, CapsuleConfig>)>::new(
        app.world_mut(),
    );
    let (rapier, config) = system.get(app.world()).map_err(|e| format!("no rapier to move in: {e}"))?;
    let context = rapier.single().map_err(|_| "rapier has no world")?;
    let queries = context.simulation.broad_phase.as_query_pipeline(
        &DefaultQueryDispatcher,
        &context.rigidbody_set.bodies,
        &context.colliders.colliders,
        QueryFilter::only_fixed().exclude_sensors(),
    );
    let steepest = config.walkable_floor_y.acos();
    let controller = KinematicCharacterController {
        // Rapier's default, 1 % of the height: 1.8 cm, about our hover distance.
        offset: CharacterLength::Relative(0.01),
        autostep: Some(CharacterAutostep {
            max_height: CharacterLength::Absolute(config.step_height),
            min_width: CharacterLength::Absolute(0.2),
            include_dynamic_bodies: false,
        }),
        snap_to_ground: Some(CharacterLength::Absolute(config.step_height)),
        max_slope_climb_angle: steepest,
        min_slope_slide_angle: steepest,
        ..Default::default()
    };
    f(&RapierController {
        controller,
        queries,
        capsule: Capsule::new_y(config.half_height - config.radius, config.radius),
        fall: config.gravity * DT * DT,
        half_height: config.half_height,
    })
}

impl RapierController<'_> {
    /// Returns the motion that the controller permits, in metres.
    pub fn step(&self, wish: &MoveRequest) -> Vec3 {
        let moved =
            self.controller.move_shape(DT, &self.queries, &self.capsule, &wish.from, wish.motion, |_| {});
        moved.translation
    }

    /// Returns a wish that starts where `wish` ended after `moved`.
    pub fn after(wish: &MoveRequest, moved: Vec3) -> MoveRequest {
        MoveRequest { from: Pose::from_parts(wish.from.translation + moved, wish.from.rotation), ..*wish }
    }

    /// Places a pawn with its feet at `feet`, lets it settle, since its gap to the floor differs from our
    /// hover distance, and returns the wish for `motion` from there.
    pub fn on_floor(&self, feet: Vec3, motion: Vec3) -> MoveRequest {
        let put = self.at(feet, self.fall());
        MoveRequest { motion, ..Self::after(&put, self.step(&put)) }
    }

    /// Returns the downward motion that users add to keep a pawn on the floor: the fall from rest within one
    /// move.
    pub fn fall(&self) -> Vec3 {
        Vec3::Y * -self.fall
    }

    fn at(&self, feet: Vec3, motion: Vec3) -> MoveRequest {
        MoveRequest { from: Pose::from_translation(feet + Vec3::Y * self.half_height), motion }
    }

    /// Returns the requests that a user of the controller that integrates the velocity would make
    /// for the same moves: the velocity that our step wants before any obstacle, times the length of the
    /// move, plus `pull` on a floor. Our step yields that velocity from the same state on an endless floor,
    /// `open`.
    ///
    /// The platform's moves are relative to the platform, which stands still here: following it would make
    /// rapier's controller slower.
    pub fn requests(&self, moves: &[Move], open: &UnlagMover<'_, '_, '_>, pull: Vec3) -> Vec<MoveRequest> {
        let (standing, _) = open.dropped(Vec3::Y * 0.5);
        let mut events = Vec::new();
        let wish = |m: &Move| {
            let grounded = m.state.is_grounded();
            let free = CapsuleState {
                position: if grounded { standing.position } else { Vec3::Y * 500.0 },
                base: BaseId::NONE,
                base_position: Vec3::ZERO,
                base_velocity: Vec3::ZERO,
                ..m.state
            };
            let wanted = open.step(&free, &m.input, m.tick, &mut events);
            let motion = wanted.velocity * DT;
            match (grounded, wanted.is_grounded()) {
                (true, true) => self.on_floor(m.place, motion + pull),
                // A jump goes up, without the pull.
                (true, false) => self.on_floor(m.place, motion),
                (false, _) => self.at(m.place, motion),
            }
        };
        moves.iter().map(wish).collect()
    }
}
