//! Movement models of an app's pawns, and their registration in the protocol.

use core::marker::PhantomData;

use bevy::{ecs::system::StaticSystemParam, prelude::*};
#[cfg(not(feature = "prediction"))]
use bevy_unlag_core::NetRole;
use bevy_unlag_core::{MoveDiagnostics, MoveModel, PawnModel, SetupDiagnostics, SetupIssue};

use crate::{model_index::ModelIndex, names_hash::hash_of_names, pawn::ReplicatedPawn, protocol::Setup};

/// Registers the movement model `M`, so that pawns of it can be owned by players. Add it once for each model,
/// on clients and servers in the same order, after [`UnlagClientNetPlugin`](crate::UnlagClientNetPlugin) or
/// [`UnlagServerNetPlugin`](crate::UnlagServerNetPlugin) and before a game's own protocol. The suite has to
/// simulate the model as well; see `PredictionPlugin` of the prediction crate.
///
/// Costs three bytes more for each pawn that spawns, except for those of the first model.
///
/// # Panics
/// The app panics while it is built, if it has more than 256 models.
pub struct NetModelPlugin<M>(PhantomData<fn() -> M>);

bevy_unlag_core::marker_impls!(NetModelPlugin<M>);

impl<M: MoveModel> Plugin for NetModelPlugin<M> {
    fn build(&self, app: &mut App) {
        let number = app.world_mut().get_resource_or_init::<NetModels>().add::<M>();
        if number > 0 {
            app.add_observer(
                move |added: On<Add, (M::State, ReplicatedPawn)>,
                      pawns: Query<(), (With<M::State>, With<ReplicatedPawn>)>,
                      mut commands: Commands| {
                    if pawns.contains(added.entity) {
                        commands.entity(added.entity).insert(ModelIndex(number));
                    }
                },
            );
        }
    }

    /// Adds to a server the recording of paths, without which no pawn would be published, unless the app or rewind
    /// has, and the check for pawns without a player.
    #[cfg(any(feature = "prediction", feature = "smoothing"))]
    fn finish(&self, app: &mut App) {
        let is_server = app.is_plugin_added::<crate::server::UnlagServerNetPlugin>();
        #[cfg(feature = "smoothing")]
        {
            use bevy_unlag_smoothing::PathRecordingPlugin;

            if is_server && !app.is_plugin_added::<PathRecordingPlugin<M>>() {
                app.add_plugins(PathRecordingPlugin::<M>::default());
            }
        }
        #[cfg(feature = "prediction")]
        if is_server {
            crate::uncontrolled_pawns::add_model::<M>(app);
        }
        #[cfg(feature = "record")]
        crate::record::record_model::<M>(app);
    }
}

/// One movement model of the app.
#[derive(Clone, Copy)]
struct NetModel {
    model: PawnModel,
    insert_owned: fn(&mut EntityCommands),
    setup: fn(&mut World) -> SetupHashes,
    has_moved: fn(&mut World) -> bool,
}

/// Hashes of one model's configuration, if it is there, and of the level.
#[derive(Clone, Copy, Default)]
struct SetupHashes {
    config: Option<u32>,
    level: u32,
}

/// All movement models of the app, in the order of registration.
#[derive(Resource, Default)]
pub(crate) struct NetModels(Vec<NetModel>);

impl NetModels {
    /// Registers a model and returns its number. On a listen server both sides register it.
    fn add<M: MoveModel>(&mut self) -> u8 {
        let model = PawnModel::of::<M>();
        let known = self.0.iter().position(|known| known.model == model);
        let number = known.unwrap_or(self.0.len());
        if known.is_none() {
            self.0.push(NetModel {
                model,
                insert_owned: insert_owned::<M>,
                setup: setup_hashes::<M>,
                has_moved: has_moved::<M>,
            });
        }
        u8::try_from(number).expect("an app has at most 256 movement models")
    }

    /// Returns whether a model is registered.
    pub(crate) fn has(&self, model: &PawnModel) -> bool {
        self.0.iter().any(|known| known.model == *model)
    }

    /// Returns the names of the models.
    #[cfg(feature = "record")]
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|model| model.model.name())
    }

    /// Returns a hash that is equal for apps with the same models in the same order.
    pub(crate) fn hash(&self) -> u64 {
        hash_of_names(self.0.iter().map(|model| model.model.name()))
    }

    /// Inserts the model into a pawn that has appeared, and makes the own pawn an autonomous proxy. Returns
    /// whether this app knows the model.
    pub(crate) fn insert(&self, index: Option<&ModelIndex>, owned: bool, pawn: &mut EntityCommands) -> bool {
        let Some(model) = self.0.get(index.map_or(0, |index| usize::from(index.0))) else { return false };
        pawn.insert(model.model);
        if owned {
            (model.insert_owned)(pawn);
        }
        true
    }
}

/// Returns whether a movement model is registered. For the umbrella crate.
#[doc(hidden)]
#[must_use]
pub fn has_models(world: &World) -> bool {
    world.get_resource::<NetModels>().is_some_and(|models| !models.0.is_empty())
}

/// Reports pawns whose model is not registered: nothing would step, send or draw them.
pub(crate) fn report_unknown_model(
    added: On<Add, PawnModel>,
    pawns: Query<&PawnModel>,
    models: Option<Res<NetModels>>,
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    let Ok(model) = pawns.get(added.entity) else { return };
    if !models.is_some_and(|models| models.has(model)) {
        diagnostics.report_each(SetupIssue::UnlistedCharacter, || {
            let model = model.short_name();
            format!(
                "a pawn is of the model {model}, which this app has not registered: add its character to the \
                 list of Characters on both sides, or its NetModelPlugin"
            )
        });
    }
}

/// Returns the current setup of this app: one hash over all models. A model without a configuration on this
/// side counts as equal to `other`'s.
pub(crate) fn current_setup(world: &mut World, epoch: u8, other: Option<&Setup>) -> Setup {
    let models = world.get_resource::<NetModels>().map(|models| models.0.clone()).unwrap_or_default();
    let hashes: Vec<_> = models.iter().map(|model| (model.setup)(world)).collect();
    let fold = |parts: &mut dyn Iterator<Item = u32>| {
        parts.fold(0, |hash: u32, part| hash.rotate_left(5).wrapping_mul(0x0100_0193) ^ part)
    };
    let unknown = hashes.iter().any(|hashes| hashes.config.is_none());
    Setup {
        epoch,
        config: match other {
            Some(other) if unknown => other.config,
            _ => fold(&mut hashes.iter().map(|hashes| hashes.config.unwrap_or(0))),
        },
        level: fold(&mut hashes.iter().map(|hashes| hashes.level)),
    }
}

/// Returns whether any own pawn has moved: by then its level is loaded.
pub(crate) fn any_pawn_has_moved(world: &mut World) -> bool {
    let models = world.get_resource::<NetModels>().map(|models| models.0.clone()).unwrap_or_default();
    models.iter().any(|model| (model.has_moved)(world))
}

fn insert_owned<M: MoveModel>(pawn: &mut EntityCommands) {
    #[cfg(not(feature = "prediction"))]
    pawn.insert(NetRole::AutonomousProxy);
    #[cfg(feature = "prediction")]
    pawn.insert(bevy_unlag_prediction::AutonomousPawn::<M>::default());
}

fn setup_hashes<M: MoveModel>(world: &mut World) -> SetupHashes {
    fn hashes<M: MoveModel>(
        config: Option<Res<M::Config>>,
        world: StaticSystemParam<M::World>,
    ) -> SetupHashes {
        let config = config.map(|config| M::Diagnostics::config_hash(&config, &world));
        SetupHashes { config, level: M::Diagnostics::level_hash(&world) }
    }
    // Without the world that the model reads, there is nothing to compare.
    world.run_system_cached(hashes::<M>).unwrap_or_default()
}

fn has_moved<M: MoveModel>(world: &mut World) -> bool {
    #[cfg(feature = "prediction")]
    let moved = world
        .query::<&bevy_unlag_prediction::SavedMoves<M>>()
        .iter(world)
        .any(|saved| saved.last_simulated().is_some());
    #[cfg(not(feature = "prediction"))]
    let moved =
        world.query_filtered::<(), With<bevy_unlag_core::LocalControl>>().iter(world).next().is_some();
    moved
}
