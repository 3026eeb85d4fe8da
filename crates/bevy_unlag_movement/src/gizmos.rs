//! Debug gizmos of the mover.

use core::marker::PhantomData;

use bevy::{
    color::palettes::tailwind,
    ecs::system::StaticSystemParam,
    gizmos::{GizmoPlugin, gizmos::GizmoBuffer},
    prelude::*,
    transform::TransformSystems,
};
use bevy_unlag_core::{CurrentTick, MoveInput, MoveModel, StepContext, with_defaults};

use crate::{
    base::{BaseId, MovementBase},
    config::CapsuleConfig,
    has_capsule::HasCapsule,
    mode::MovementMode,
    probe::MoverProbe,
    state::CapsuleState,
    world::MoverWorld,
};

with_defaults! {
    /// Settings and colours of the gizmos. Change them through Bevy's `GizmoConfigStore`;
    /// `GizmoConfig::enabled` of the group turns them all off.
    #[derive(Clone, Debug, Reflect, GizmoConfigGroup)]
    pub struct MoverGizmos {
        /// Whether to draw the capsule, in the colour of its mode. Default: true.
        pub capsule: bool = true;
        /// Whether to draw the floor below the feet and its normal. Default: true.
        pub floor: bool = true;
        /// Whether to draw the path ahead at the current velocity and the first hit on it. Default: true.
        pub sweep: bool = true;
        /// Whether to draw the axes of the movement base below the pawn. Default: true.
        pub base: bool = true;
        /// Whether to draw the velocity in world space. Default: true.
        pub velocity: bool = true;
        /// Whether to draw the boxes of all collider parts that a step looks at. Default: false.
        pub parts: bool = false;
        /// Colour of the capsule while walking.
        pub walking: Color = tailwind::GREEN_400.into();
        /// Colour of the capsule while falling.
        pub falling: Color = tailwind::AMBER_400.into();
        /// Colour of the capsule while swimming.
        pub swimming: Color = tailwind::SKY_400.into();
        /// Colour of the capsule while flying.
        pub flying: Color = tailwind::VIOLET_400.into();
        /// Colour of the capsule in a custom mode.
        pub custom: Color = tailwind::PINK_400.into();
        /// Colour of a walkable floor.
        pub walkable: Color = tailwind::EMERALD_300.into();
        /// Colour of a floor that is too steep.
        pub steep: Color = tailwind::RED_500.into();
        /// Colour of the path ahead.
        pub ahead: Color = tailwind::ORANGE_400.into();
        /// Colour of the velocity.
        pub speed: Color = tailwind::CYAN_300.into();
        /// Colour of the boxes.
        pub part: Color = Color::srgba(1.0, 1.0, 1.0, 0.35);
    }
}

impl MoverGizmos {
    fn mode(&self, mode: MovementMode) -> Color {
        match mode {
            MovementMode::Walking => self.walking,
            MovementMode::Falling => self.falling,
            MovementMode::Swimming => self.swimming,
            MovementMode::Flying => self.flying,
            MovementMode::Custom(_) => self.custom,
        }
    }
}

/// Draws [`MoverGizmos`] for all pawns of the model `M`. Pawns with a [`MoveInput`] are drawn at the
/// time of the frame, by a step whose result is discarded; other pawns at their last tick. Add it after
/// Bevy's plugins; without Bevy's `GizmoPlugin`, as on a server, it does nothing.
pub struct MoverGizmosPlugin<M>(PhantomData<fn() -> M>);

bevy_unlag_core::marker_impls!(MoverGizmosPlugin<M>);

impl<M> Plugin for MoverGizmosPlugin<M>
where
    M: MoveModel<Config = CapsuleConfig, State: HasCapsule>,
{
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<GizmoPlugin>() {
            return;
        }
        let store = app.world().get_resource::<GizmoConfigStore>();
        if store.is_none_or(|store| store.get_config::<MoverGizmos>().is_none()) {
            // Drawn in front of everything, because most lines lie in or below the pawn.
            let config = GizmoConfig { depth_bias: -1.0, ..default() };
            app.insert_gizmo_config(MoverGizmos::default(), config);
        }
        app.add_systems(PostUpdate, draw::<M>.after(TransformSystems::Propagate));
    }
}

type Buffer = GizmoBuffer<MoverGizmos, ()>;

fn draw<M>(
    mut gizmos: Gizmos<MoverGizmos>,
    config: Res<CapsuleConfig>,
    tick: Res<CurrentTick>,
    fixed: Res<Time<Fixed>>,
    world: StaticSystemParam<M::World>,
    mover: MoverWorld,
    pawns: Query<(Entity, &M::State, Option<&MoveInput<M>>)>,
    bases: Query<(&MovementBase, &GlobalTransform)>,
) where
    M: MoveModel<Config = CapsuleConfig, State: HasCapsule>,
{
    if !gizmos.config.enabled {
        return;
    }
    let style = gizmos.config_ext;
    let ahead = fixed.overstep().as_secs_f32();
    let mut muted = Vec::new();
    for (entity, state, input) in &pawns {
        let body = state.capsule();
        if !body.alive {
            continue;
        }
        let ctx = |dt| StepContext { tick: tick.0.offset(1), dt, entity, replaying: false };
        let live = match input {
            Some(input) if ahead > 0.0 => M::step(&config, state, &input.0, &ctx(ahead), &world, &mut muted),
            _ => *state,
        };
        muted.clear();
        let live = live.capsule();
        if style.capsule {
            capsule(&mut gizmos, style, &config, live);
        }
        if style.velocity {
            let middle = live.position + live.up * height(&config, live);
            gizmos.arrow(middle, middle + live.world_velocity() * 0.25, style.speed);
        }
        if style.base && live.base != BaseId::NONE {
            for (_, pose) in bases.iter().filter(|(base, _)| base.id == live.base) {
                let pose = pose.to_isometry();
                gizmos.axes(Isometry3d::new(pose * live.base_position, pose.rotation), 0.8);
            }
        }
        if style.floor || style.sweep || style.parts {
            let probe = mover.probe(&config, body, &ctx(fixed.timestep().as_secs_f32()));
            // The probe is of the last tick; the drawn pawn has moved since.
            probed(&mut gizmos, style, body, live.position - body.position, &probe);
        }
    }
}

/// Returns the distance from the feet to the middle, in metres.
fn height(config: &CapsuleConfig, state: &CapsuleState) -> f32 {
    let config = config.class(state.class);
    if state.crouched { config.crouched_half_height.max(config.radius) } else { config.half_height }
}

fn capsule(gizmos: &mut Buffer, style: &MoverGizmos, config: &CapsuleConfig, state: &CapsuleState) {
    let (colour, half) = (style.mode(state.mode), height(config, state));
    let radius = config.class(state.class).radius;
    let shape = Capsule3d { radius, half_length: half - radius };
    let pose = Isometry3d::new(state.position + state.up * half, state.rotation());
    gizmos.primitive_3d(&shape, pose, colour);
    let eye = state.eye(config);
    gizmos.line(eye, eye + state.look() * 0.6, colour);
}

fn probed(gizmos: &mut Buffer, style: &MoverGizmos, state: &CapsuleState, moved: Vec3, probe: &MoverProbe) {
    if let Some(floor) = probe.floor.as_ref().filter(|_| style.floor) {
        let colour = if floor.walkable { style.walkable } else { style.steep };
        let point = floor.point + moved;
        let flat = Quat::from_rotation_arc(Vec3::Z, floor.normal);
        gizmos.circle(Isometry3d::new(point, flat), 0.12, colour);
        gizmos.arrow(point, point + floor.normal * 0.6, colour);
    }
    if style.sweep {
        let knees = state.position + state.up * 0.3 + moved;
        gizmos.line(knees, knees + probe.sweep_motion, style.ahead);
        if let Some(hit) = &probe.sweep {
            gizmos.sphere(Isometry3d::from_translation(hit.point), 0.05, style.ahead).resolution(12);
            gizmos.arrow(hit.point, hit.point + hit.normal * 0.5, style.ahead);
            gizmos.cross(Isometry3d::from_translation(hit.position), 0.15, style.ahead);
        }
    }
    if style.parts {
        for part in &probe.parts {
            gizmos.aabb_3d(*part, Transform::IDENTITY, style.part);
        }
    }
}
