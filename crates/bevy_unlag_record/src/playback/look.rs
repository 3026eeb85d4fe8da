//! Exact look direction of the followed pawn, from the inputs of its moves.

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::{MoveModel, NetId, PawnModel, Tick, ViewTime, units_to_angle};

use super::{Playback, PlaybackView, plugin::PlaybackSystems};

/// Turns the camera of a [`Playback`] by the inputs of pawns of the model `M`. Without it first person looks where the
/// snapshots say, whose pitch is rounded to about a degree. Models whose view does not stand upright in the world keep
/// that of the snapshots. Add it once for each model.
pub struct PlaybackLookPlugin<M>(PhantomData<fn() -> M>);

bevy_unlag_core::marker_impls!(PlaybackLookPlugin<M>);

impl<M: MoveModel> Plugin for PlaybackLookPlugin<M> {
    fn build(&self, app: &mut App) {
        app.init_resource::<PlaybackLook>().add_systems(
            PostUpdate,
            follow::<M>
                .after(PlaybackSystems::Pose)
                .before(PlaybackSystems::PlaceCamera)
                .run_if(resource_exists::<Playback>),
        );
    }
}

/// Look of the followed pawn, if its moves are known.
#[derive(Resource, Default)]
pub(super) struct PlaybackLook(pub Option<(NetId, Quat)>);

/// Looks of a pawn, by the tick of the server in which their moves ran.
#[derive(Default)]
struct Looks {
    of: Option<(NetId, u32)>,
    looks: Vec<(Tick, u16, i16)>,
}

fn follow<M: MoveModel>(playback: Res<Playback>, mut look: ResMut<PlaybackLook>, mut known: Local<Looks>) {
    let is_of_model = |pawn: NetId| {
        let model = playback.roster().pawn(pawn).map(|pawn| usize::from(pawn.model));
        let name = model.and_then(|model| playback.setup().characters.get(model));
        name.is_some_and(|name| name == PawnModel::of::<M>().name())
    };
    let PlaybackView::FirstPerson(pawn) = playback.view() else {
        look.0 = None;
        return;
    };
    if !is_of_model(pawn) {
        return;
    }
    let key = Some((pawn, playback.generation()));
    if known.of != key {
        known.of = key;
        let moves = playback.moves::<M::Input>(pawn).into_iter();
        known.looks = moves
            .map(|ran| {
                let (yaw, pitch) = M::look(&ran.input);
                (ran.ran, yaw, pitch)
            })
            .collect();
    }
    look.0 = rotation(&known.looks, playback.time()).map(|rotation| (pawn, rotation));
}

/// Returns the look at a moment, between those of the moves before and after.
fn rotation(looks: &[(Tick, u16, i16)], now: ViewTime) -> Option<Quat> {
    let turn = |(_, yaw, pitch): &(Tick, u16, i16)| {
        let pitch = units_to_angle(pitch.cast_unsigned());
        Quat::from_euler(EulerRot::YXZ, units_to_angle(*yaw), pitch, 0.0)
    };
    let after = looks.partition_point(|(ran, ..)| ViewTime::at(*ran).since(now) <= 0);
    let before = looks.get(after.checked_sub(1)?)?;
    let since = now.ticks_since(before.0);
    // Without moves for half a second the pawn has none.
    if since > 32.0 {
        return None;
    }
    Some(match looks.get(after) {
        Some(next) => {
            let whole = next.0.since(before.0).max(1) as f32;
            turn(before).slerp(turn(next), (since / whole).clamp(0.0, 1.0))
        }
        None => turn(before),
    })
}
