//! Poses on the clients' screens, against those that a reader rebuilds from the server's recording.

use bevy_unlag::record::{Entry, PlayerScreen, RecordedShot};

use super::played::Played;
use crate::prelude::*;

/// Bits of a pose that a screen draws.
type PoseBits = [u32; 8];

/// What one client drew: the poses of other pawns by the view time of the frame.
#[derive(Resource, Default)]
pub struct DrawnPoses(HashMap<ViewTime, Vec<DrawnBits>>);

/// A pawn on the screen.
type DrawnBits = (NetId, ViewStamp, PoseBits);

fn bits(pose: &PoseSample) -> PoseBits {
    let [x, y, z] = pose.position.to_array().map(f32::to_bits);
    let [a, b, c, d] = pose.rotation.to_array().map(f32::to_bits);
    [x, y, z, a, b, c, d, pose.pitch.to_bits()]
}

/// Keeps what all clients draw from now on.
pub fn watch(game: &mut Match) {
    for client in &mut game.clients {
        client
            .insert_resource(DrawnPoses::default())
            .add_systems(PostUpdate, keep.after(VisualSystems::Draw));
    }
}

/// Returns what the clients drew.
pub fn take(game: &mut Match) -> Vec<DrawnPoses> {
    let take = |client: &mut App| client.world_mut().remove_resource::<DrawnPoses>().unwrap_or_default();
    game.clients.iter_mut().map(take).collect()
}

fn keep(
    time: Res<DrawnViewTime>,
    pawns: Query<(&NetId, &NetRole, &DrawnPose)>,
    mut drawn: ResMut<DrawnPoses>,
) {
    let Some(time) = time.0 else { return };
    let remote = pawns.iter().filter(|(_, role, pose)| **role == NetRole::SimulatedProxy && pose.pose.alive);
    let poses = remote.map(|(id, _, drawn)| (*id, drawn.stamp, bits(&drawn.pose))).collect();
    drawn.0.insert(time, poses);
}

/// Counts of compared poses.
#[derive(Default)]
struct Compared {
    views: u64,
    poses: u64,
    differing: u64,
    /// Poses that the shot's claim does not determine, because it names four targets at most.
    unnamed: u64,
    control: u64,
}

pub fn measure(played: &Played, figures: &mut Figures) -> Result<(), String> {
    let mut recording = played.open()?;
    let sampler = recording.setup().sampler.0;
    let bases = BasePoses::default();
    let mut compared = Compared::default();
    let count = recording.segments().len();
    for index in 0..count {
        let place = recording.segments()[index].header;
        let segments = recording
            .read_span(place.first.offset(-320), place.last.offset(128))
            .map_err(|error| error.to_string())?;
        let Some(own) = segments.iter().find(|segment| segment.first() == place.first) else { continue };
        let mut screens = HashMap::new();
        for (_, entry) in own.entries() {
            let Entry::Shot(shot) = entry else { continue };
            let Some(view) = &shot.claimed else { continue };
            let screen =
                screens.entry(view.player).or_insert_with(|| PlayerScreen::of(view.player, &segments));
            // The clients of a match count from 1.
            let client = own.roster.player(view.player).and_then(|player| player.peer.checked_sub(1));
            let drawn = client.and_then(|client| played.drawn.get(client as usize));
            if let Some(live) = drawn.and_then(|drawn| drawn.0.get(&view.time)) {
                compare(shot, screen, live, &sampler, &bases, &mut compared);
            }
        }
    }
    let Compared { views, poses, differing, unnamed, control } = compared;
    let note =
        format!("of {poses} poses at {views} view times of shots, {unnamed} others not named by their shot");
    figures.add_noted("replay_differing_poses", differing as f64, note)?;
    // Drawn 1/256 of a tick later.
    figures.add("control_replay_differing_poses_later", control as f64)
}

fn compare(
    shot: &RecordedShot,
    screen: &PlayerScreen,
    live: &[DrawnBits],
    sampler: &PoseSampler,
    bases: &BasePoses,
    compared: &mut Compared,
) {
    let Some(view) = &shot.claimed else { return };
    let bases = bases.at(view.bases.unwrap_or(ViewTime::at(view.own)));
    compared.views += 1;
    for (pawn, live_stamp, live_bits) in live {
        let Some(stamp) = screen.stamp_in(view, *pawn) else {
            compared.differing += 1;
            continue;
        };
        let is_named = view.stamps.iter().any(|(named, _)| named == pawn);
        if stamp != *live_stamp && !is_named {
            compared.unnamed += 1;
            continue;
        }
        let rebuilt = screen.pose(*pawn, stamp, sampler, &bases).map(|pose| bits(&pose));
        compared.poses += 1;
        compared.differing += u64::from(rebuilt != Some(*live_bits));
        let later = match stamp {
            ViewStamp::Interpolated { from, to, time } => {
                ViewStamp::Interpolated { from, to, time: time.later(1) }
            }
            ViewStamp::Extrapolated { from, time } => ViewStamp::Extrapolated { from, time: time.later(1) },
            ViewStamp::Present => stamp,
        };
        let control = screen.pose(*pawn, later, sampler, &bases).map(|pose| bits(&pose));
        compared.control += u64::from(control != Some(*live_bits));
    }
}
