//! What the server judged, laid over what the screen showed, drawn as gizmos.

use core::time::Duration;
use std::collections::VecDeque;

use bevy::{color::palettes::tailwind, gizmos::GizmoPlugin, prelude::*, transform::TransformSystems};
use bevy_unlag_core::{DrawnViewTime, Sampler, VisualSystems};

use crate::{DrawnEvidence, DrawnFrames, DrawnQuery, EvidencePart, LimbSystems, ShotEvidence};

/// How large names are written, in metres for every metre that they are away from where the shot started.
const LETTERS: f32 = 0.025;

/// The gizmos of [`RewindView`], for Bevy's `GizmoConfigStore`: how thick the lines are, and whether they
/// shine through walls.
#[derive(Clone, Copy, Debug, Default, Reflect, GizmoConfigGroup)]
pub struct RewindGizmos;

/// The last shots in the picture: drawn hit boxes red, judged ones blue, live ones grey, the ray, the bounds of
/// candidates, and the snapshots that were chosen. Give it shots with [`judged`](Self::judged) and
/// [`drawn`](Self::drawn); the weapons of this suite do.
#[derive(Resource, Clone, Debug)]
pub struct RewindView {
    /// Whether anything is drawn. Default false.
    pub enabled: bool,
    /// How long a shot stays in the picture. Default 6 s.
    pub lifetime: Duration,
    /// How many shots are in the picture at most. Default 3: more are hard to tell apart.
    pub shots: usize,
    judged: VecDeque<(Option<Duration>, ShotEvidence)>,
    drawn: VecDeque<(Option<Duration>, DrawnEvidence)>,
}

impl Default for RewindView {
    fn default() -> Self {
        Self {
            enabled: false,
            lifetime: Duration::from_secs(6),
            shots: 3,
            judged: VecDeque::new(),
            drawn: VecDeque::new(),
        }
    }
}

impl RewindView {
    /// Shows what a server judged.
    pub fn judged(&mut self, evidence: ShotEvidence) {
        push(&mut self.judged, evidence, self.shots);
    }

    /// Shows what this app's screen showed.
    pub fn drawn(&mut self, evidence: DrawnEvidence) {
        push(&mut self.drawn, evidence, self.shots);
    }

    /// Drops what has been seen for long enough.
    fn age(&mut self, now: Duration) {
        if !self.enabled {
            self.judged.clear();
            self.drawn.clear();
        }
        age(&mut self.judged, now, self.lifetime);
        age(&mut self.drawn, now, self.lifetime);
    }
}

fn push<T>(shots: &mut VecDeque<(Option<Duration>, T)>, shot: T, most: usize) {
    shots.push_back((None, shot));
    let beyond = shots.len().saturating_sub(most);
    shots.drain(..beyond);
}

fn age<T>(shots: &mut VecDeque<(Option<Duration>, T)>, now: Duration, lifetime: Duration) {
    shots.retain_mut(|(since, _)| now.saturating_sub(*since.get_or_insert(now)) <= lifetime);
}

/// Draws the [`RewindView`], and remembers the last frames for it. Off until [`RewindView::enabled`]. Add it
/// after Bevy's plugins; without Bevy's `GizmoPlugin`, as on a server without a picture, it does nothing.
#[derive(Debug, Default)]
pub struct RewindViewPlugin;

impl Plugin for RewindViewPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<RewindView>().init_resource::<DrawnFrames>();
        if !app.is_plugin_added::<GizmoPlugin>() {
            return;
        }
        // In front of everything: a difference of millimetres lies within the pawn.
        let line = GizmoLineConfig { width: 1.0, ..default() };
        app.insert_gizmo_config(RewindGizmos, GizmoConfig { depth_bias: -1.0, line, ..default() })
            .init_resource::<Sampler>()
            .init_resource::<DrawnViewTime>()
            .add_systems(
                PostUpdate,
                (
                    note.after(VisualSystems::Draw).after(LimbSystems::Read),
                    draw.after(TransformSystems::Propagate),
                ),
            );
    }
}

fn note(view: Res<RewindView>, time: Res<DrawnViewTime>, query: DrawnQuery, mut frames: ResMut<DrawnFrames>) {
    frames.switch(view.enabled);
    frames.note(time.0, &query);
}

fn draw(
    time: Res<Time<Real>>,
    sampler: Res<Sampler>,
    mut view: ResMut<RewindView>,
    mut gizmos: Gizmos<RewindGizmos>,
) {
    view.age(time.elapsed());
    for (_, evidence) in &view.judged {
        evidence.lines(&sampler, &mut |a, b, part| gizmos.line(a, b, colour(part)));
        let Ok(way) = Dir3::new(evidence.direction) else { continue };
        // For whoever stands where the shot came from.
        let facing = Transform::default().looking_to(way, Vec3::Y).rotation;
        evidence.labels(&sampler, &mut |at, text| {
            let letters = at.distance(evidence.origin) * LETTERS;
            gizmos.text(Isometry3d::new(at, facing), text, letters, Vec2::new(0.0, -0.5), tailwind::SKY_100);
        });
    }
    for (_, evidence) in &view.drawn {
        evidence.lines(&mut |a, b, part| gizmos.line(a, b, colour(part)));
    }
}

fn colour(part: EvidencePart) -> Color {
    let colour = match part {
        EvidencePart::Drawn => tailwind::RED_500,
        EvidencePart::Judged => tailwind::BLUE_500,
        EvidencePart::Live => tailwind::GRAY_400.with_alpha(0.5),
        EvidencePart::Envelope => tailwind::BLUE_300.with_alpha(0.25),
        EvidencePart::Ray => tailwind::YELLOW_300,
        EvidencePart::Hit => tailwind::GREEN_400,
        EvidencePart::Wall => tailwind::ORANGE_400,
    };
    colour.into()
}
