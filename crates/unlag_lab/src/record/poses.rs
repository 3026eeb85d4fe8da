//! Poses on the clients' screens, against those that a reader rebuilds from the server's recording and the view times
//! that it has: those of shots, and those of a recording on the client.

use std::{io::Cursor, path::PathBuf};

use bevy_unlag::{
    net::{RecordScreenPlugin, ScreenRecording},
    record::{Entry, PlayerNumber, PlayerScreen, RecordedView, Recording, Segment},
};

use super::played::{Played, temporary_file};
use crate::prelude::*;

/// Bits of a pose that a screen draws.
type PoseBits = [u32; 8];

/// Poses of other pawns that one client drew, by the view time of the frame.
#[derive(Resource, Default)]
pub struct DrawnPoses(HashMap<ViewTime, Vec<(NetId, ViewStamp, PoseBits)>>);

fn bits(pose: &PoseSample) -> PoseBits {
    let [x, y, z] = pose.position.to_array().map(f32::to_bits);
    let [a, b, c, d] = pose.rotation.to_array().map(f32::to_bits);
    [x, y, z, a, b, c, d, pose.pitch.to_bits()]
}

/// Keeps what all clients draw from now on, and lets each record its screen. Returns the paths of their files.
pub fn watch(game: &mut Match) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for client in &mut game.clients {
        let path = temporary_file("screen");
        // The app has its plugins already.
        RecordScreenPlugin.build(client);
        client
            .insert_resource(DrawnPoses::default())
            .add_systems(PostUpdate, keep.after(VisualSystems::Draw));
        client.world_mut().resource_mut::<ScreenRecording>().start(&path);
        files.push(path);
    }
    files
}

/// Returns what the clients drew, and ends their recordings.
pub fn take(game: &mut Match) -> Vec<DrawnPoses> {
    let take = |client: &mut App| {
        client.world_mut().resource_mut::<ScreenRecording>().stop();
        client.world_mut().remove_resource::<DrawnPoses>().unwrap_or_default()
    };
    game.clients.iter_mut().map(take).collect()
}

fn keep(
    time: Res<DrawnViewTime>,
    pawns: Query<(&NetId, &NetRole, &DrawnPose)>,
    drawn: Option<ResMut<DrawnPoses>>,
) {
    let Some((time, mut drawn)) = time.0.zip(drawn) else { return };
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
    /// Poses that a shot does not determine, because it names four targets at most.
    unnamed: u64,
    control: u64,
}

pub fn measure(played: &Played, figures: &mut Figures) -> Result<(), String> {
    let mut of_shots = Compared::default();
    let mut of_frames = Compared::default();
    let mut recording = played.open()?;
    let sampler = recording.setup().sampler.0;
    let bases = BasePoses::default();
    for (index, (drawn, file)) in played.screens.iter().enumerate() {
        let frames = views(file)?;
        // The server's number of the player whose client this is. The clients of a match count from 1.
        let Some(player) = player_of(&mut recording, index as u64 + 1) else { continue };
        // Screens of the first segment draw from snapshots that were sent before.
        for place in 1..recording.segments().len() {
            let header = recording.segments()[place].header;
            let segments = recording
                .read_span(header.first.offset(-320), header.last.offset(128))
                .map_err(|error| error.to_string())?;
            let screen = PlayerScreen::of(player, &segments);
            let sources = (&screen, drawn, &sampler, &bases);
            let is_own = |segment: &&Segment| segment.first() == header.first;
            for (_, entry) in segments.iter().filter(is_own).flat_map(Segment::entries) {
                let Entry::Shot(shot) = entry else { continue };
                if let Some(view) = shot.claimed.as_ref().filter(|view| view.player == player) {
                    compare(view, sources, &mut of_shots);
                }
            }
            let is_here = |view: &&RecordedView| {
                view.time.tick.since(header.first) >= 0 && header.last.since(view.time.tick) >= 0
            };
            frames.iter().filter(is_here).for_each(|view| compare(view, sources, &mut of_frames));
        }
    }
    let Compared { views, poses, differing, control, .. } = of_frames;
    let note = format!("of {poses} poses at {views} view times");
    figures.add_noted("replay_differing_poses", differing as f64, note)?;
    // Drawn 1/256 of a tick later.
    figures.add("control_replay_differing_poses_later", control as f64)?;
    let Compared { views, poses, differing, unnamed, .. } = of_shots;
    let note =
        format!("of {poses} poses at {views} view times, {unnamed} others that the shots do not determine");
    figures.add_noted("replay_differing_poses_of_shots", differing as f64, note)
}

/// Returns all frames of a client's recording.
fn views(file: &[u8]) -> Result<Vec<RecordedView>, String> {
    let mut recording = Recording::read(Cursor::new(file)).map_err(|error| error.to_string())?;
    let mut views = Vec::new();
    for index in 0..recording.segments().len() {
        let segment = recording.segment(index).map_err(|error| error.to_string())?;
        views.extend(segment.entries().filter_map(|(_, entry)| match entry {
            Entry::View(view) => Some(view.clone()),
            _ => None,
        }));
    }
    Ok(views)
}

fn player_of(recording: &mut Recording<Cursor<&[u8]>>, peer: u64) -> Option<PlayerNumber> {
    let last = recording.segments().len().checked_sub(1)?;
    let segment = recording.segment(last).ok()?;
    segment.roster.players().find(|player| player.peer == peer).map(|player| player.number)
}

fn compare(
    view: &RecordedView,
    (screen, drawn, sampler, bases): (&PlayerScreen, &DrawnPoses, &PoseSampler, &BasePoses),
    compared: &mut Compared,
) {
    let Some(live) = drawn.0.get(&view.time) else { return };
    let bases = bases.at(view.bases.unwrap_or(ViewTime::at(view.own)));
    compared.views += 1;
    for (pawn, live_stamp, live_bits) in live {
        let stamp = screen.stamp_in(view, *pawn);
        let is_named = view.is_complete || view.stamps.iter().any(|(named, _)| named == pawn);
        if stamp != Some(*live_stamp) && !is_named {
            compared.unnamed += 1;
            continue;
        }
        let pose = |stamp| screen.pose(*pawn, stamp, sampler, &bases).map(|pose| bits(&pose));
        compared.poses += 1;
        compared.differing += u64::from(stamp.and_then(pose) != Some(*live_bits));
        let later = stamp.map(|stamp| match stamp {
            ViewStamp::Interpolated { from, to, time } => {
                ViewStamp::Interpolated { from, to, time: time.later(1) }
            }
            ViewStamp::Extrapolated { from, time } => ViewStamp::Extrapolated { from, time: time.later(1) },
            ViewStamp::Present => stamp,
        });
        compared.control += u64::from(later.and_then(pose) != Some(*live_bits));
    }
}
