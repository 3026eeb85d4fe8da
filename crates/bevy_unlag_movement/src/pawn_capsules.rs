//! Collision capsules of pawns for each other, shared by all models.

use bevy::{ecs::component::Mutable, prelude::*};
use bevy_unlag_core::{DrawnPose, MoveModel, MoveSystems, NetId, PawnClass, PawnModel, Seated, TickSystems};

use crate::{
    config::{CapsuleConfig, PawnCollision},
    has_capsule::HasCapsule,
    scene::PawnCapsule,
    state::CapsuleState,
    system_sets::MoverSceneSystems,
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
    /// Dead pawns do not collide, nor do those in a vehicle.
    pub(crate) alive: bool,
}

/// State that provides the position and stance of its pawn.
pub(crate) trait HasStance: Component<Mutability = Mutable> {
    fn stance(&self) -> Stance;
}

impl Stance {
    /// Returns the capsule of a pawn in this stance. It has no radius if nothing collides with the pawn.
    fn capsule<C: PawnCollisionConfig>(self, config: &C, id: u32, seated: Option<&Seated>) -> PawnCapsule {
        let Self { feet, up, crouched, class, alive } = self;
        let (radius, half_height) = config.size(class, crouched);
        let collides = alive && !seated.is_some_and(|seated| seated.0);
        PawnCapsule { feet, up, radius: if collides { radius } else { 0.0 }, half_height, id }
    }
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

/// Drawn pose, class and model of a pawn.
type DrawnPawn = (&'static DrawnPose, Option<&'static PawnClass>, Option<&'static PawnModel>);

/// Whether a drawn pawn is of the model `M`. In an app with one model, nothing says so.
fn is_of<M: MoveModel>(model: Option<&PawnModel>) -> bool {
    model.is_none_or(PawnModel::is::<M>)
}

fn insert_capsules<C: PawnCollisionConfig, M: MoveModel<State: HasStance>>(
    config: Res<C>,
    pawns: Query<(Entity, &M::State, Option<&NetId>, Option<&Seated>), Without<PawnCapsule>>,
    drawn: Query<
        (Entity, DrawnPawn, Option<&NetId>, Option<&Seated>),
        (Without<PawnCapsule>, Without<M::State>),
    >,
    mut commands: Commands,
) {
    for (entity, state, id, seated) in &pawns {
        commands.entity(entity).insert(state.stance().capsule(&*config, id_of(entity, id), seated));
    }
    for (entity, (drawn, class, _), id, seated) in drawn.iter().filter(|(_, pawn, ..)| is_of::<M>(pawn.2)) {
        let stance = drawn_stance(drawn, class);
        commands.entity(entity).insert(stance.capsule(&*config, id_of(entity, id), seated));
    }
}

fn update_capsules<C: PawnCollisionConfig, M: MoveModel<State: HasStance>>(
    config: Res<C>,
    mut pawns: Query<(&M::State, &mut PawnCapsule, Option<&Seated>)>,
) {
    for (state, mut capsule, seated) in &mut pawns {
        let now = state.stance().capsule(&*config, capsule.id, seated);
        capsule.set_if_neq(now);
    }
}

fn update_drawn_capsules<C: PawnCollisionConfig, M: MoveModel<State: HasStance>>(
    config: Res<C>,
    mut pawns: Query<(DrawnPawn, &mut PawnCapsule, Option<&Seated>), Without<M::State>>,
) {
    for ((drawn, class, _), mut capsule, seated) in pawns.iter_mut().filter(|(pawn, ..)| is_of::<M>(pawn.2)) {
        let now = drawn_stance(drawn, class).capsule(&*config, capsule.id, seated);
        capsule.set_if_neq(now);
    }
}
