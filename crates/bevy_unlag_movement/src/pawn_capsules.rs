//! Collision capsules of pawns for each other, shared by all models.

use bevy::{ecs::component::Mutable, prelude::*};
use bevy_unlag_core::{DrawnPose, MoveModel, MoveSystems, NetId, PawnClass, PawnModel, TickSystems};

use crate::{
    config::{CapsuleConfig, PawnCollision},
    pawn_collision::HasCapsule,
    scene::{MoverSceneSystems, PawnCapsule},
    state::CapsuleState,
};

/// Config that defines the size of pawns for collisions between pawns.
pub(crate) trait PawnCollisionConfig: Resource {
    /// Returns how pawns collide with each other.
    fn pawns(&self) -> PawnCollision;

    /// Returns the radius and the distance from the middle to the feet, in metres.
    fn size(&self, class: PawnClass, crouched: bool) -> (f32, f32);
}

impl PawnCollisionConfig for CapsuleConfig {
    fn pawns(&self) -> PawnCollision {
        self.pawns
    }

    fn size(&self, class: PawnClass, crouched: bool) -> (f32, f32) {
        let config = self.class(class);
        (config.radius, if crouched { config.crouched_half_height } else { config.half_height })
    }
}

/// Position and stance of a pawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stance {
    /// Lowest point in metres.
    pub(crate) feet: Vec3,
    /// Unit vector from the feet to the head.
    pub(crate) up: Vec3,
    pub(crate) crouched: bool,
    pub(crate) class: PawnClass,
    /// Dead pawns do not collide.
    pub(crate) alive: bool,
}

/// State that provides the position and stance of its pawn.
pub(crate) trait HasStance: Component<Mutability = Mutable> {
    fn stance(&self) -> Stance;
}

impl<S: HasCapsule + Component<Mutability = Mutable>> HasStance for S {
    fn stance(&self) -> Stance {
        let state = self.capsule();
        let CapsuleState { position: feet, up, crouched, class, alive, .. } = *state;
        Stance { feet, up, crouched, class, alive }
    }
}

/// Keeps the [`PawnCapsule`]s of pawns of the model `M` at their state, and without a state where they are
/// drawn.
pub(crate) fn add_systems<C: PawnCollisionConfig, M: MoveModel<State: HasStance>>(app: &mut App) {
    app.add_systems(
        FixedUpdate,
        (insert_capsules::<C, M>, update_capsules::<C, M>, update_drawn_capsules::<C, M>)
            .chain()
            .run_if(|config: Res<C>| config.pawns() != PawnCollision::Ignore)
            .before(MoveSystems::Reconcile)
            .before(MoverSceneSystems::Sync)
            .in_set(TickSystems),
    );
}

fn capsule_at<C: PawnCollisionConfig>(config: &C, id: u32, stance: Stance) -> PawnCapsule {
    let Stance { feet, up, crouched, class, alive } = stance;
    let (radius, half_height) = config.size(class, crouched);
    PawnCapsule { feet, up, radius: if alive { radius } else { 0.0 }, half_height, id }
}

/// Returns the id of a pawn: the same on all machines, or the entity's index in a game without a
/// network.
fn id_of(entity: Entity, id: Option<&NetId>) -> u32 {
    id.map_or(entity.index_u32(), |id| id.0.into())
}

fn drawn_stance(drawn: &DrawnPose, class: Option<&PawnClass>) -> Stance {
    let pose = &drawn.pose;
    let up = pose.rotation * Vec3::Y;
    Stance {
        feet: pose.position,
        up,
        crouched: pose.crouch > 0.5,
        class: class.copied().unwrap_or_default(),
        alive: pose.alive,
    }
}

/// Whether a drawn pawn is of the model `M`. In an app with one model, nothing says so.
fn is_of<M: MoveModel>(model: Option<&PawnModel>) -> bool {
    model.is_none_or(PawnModel::is::<M>)
}

fn insert_capsules<C: PawnCollisionConfig, M: MoveModel<State: HasStance>>(
    config: Res<C>,
    pawns: Query<(Entity, &M::State, Option<&NetId>), Without<PawnCapsule>>,
    drawn: Query<
        (Entity, &DrawnPose, Option<&PawnClass>, Option<&NetId>, Option<&PawnModel>),
        (Without<PawnCapsule>, Without<M::State>),
    >,
    mut commands: Commands,
) {
    for (entity, state, id) in &pawns {
        commands.entity(entity).insert(capsule_at(&*config, id_of(entity, id), state.stance()));
    }
    for (entity, drawn, class, id, _) in drawn.iter().filter(|(.., model)| is_of::<M>(*model)) {
        commands.entity(entity).insert(capsule_at(&*config, id_of(entity, id), drawn_stance(drawn, class)));
    }
}

fn update_capsules<C: PawnCollisionConfig, M: MoveModel<State: HasStance>>(
    config: Res<C>,
    mut pawns: Query<(&M::State, &mut PawnCapsule)>,
) {
    for (state, mut capsule) in &mut pawns {
        let now = capsule_at(&*config, capsule.id, state.stance());
        capsule.set_if_neq(now);
    }
}

fn update_drawn_capsules<C: PawnCollisionConfig, M: MoveModel<State: HasStance>>(
    config: Res<C>,
    mut pawns: Query<
        (&DrawnPose, Option<&PawnClass>, &mut PawnCapsule, Option<&PawnModel>),
        Without<M::State>,
    >,
) {
    for (drawn, class, mut capsule, _) in pawns.iter_mut().filter(|(.., model)| is_of::<M>(*model)) {
        let now = capsule_at(&*config, capsule.id, drawn_stance(drawn, class));
        capsule.set_if_neq(now);
    }
}
