//! Debug gizmos that overlay what the server tested with what the screen showed.

use core::time::Duration;
use std::collections::VecDeque;

use bevy::{color::palettes::tailwind, gizmos::GizmoPlugin, prelude::*, transform::TransformSystems};
use bevy_unlag_core::{DrawnViewTime, PoseSampler, VisualSystems};

use crate::{
    drawn_query::DrawnQuery,
    evidence::{DrawnEvidence, DrawnFrames, EvidencePart, ShotEvidence},
    system_sets::RewindSystems,
};

/// Height of labels in metres, per metre of distance from the origin of the shot.
const LABEL_HEIGHT: f32 = 0.025;

/// Gizmo group of [`RewindView`], for Bevy's `GizmoConfigStore`: line width, and whether lines are
/// visible through walls.
#[derive(Clone, Copy, Debug, Default, Reflect, GizmoConfigGroup)]
pub struct RewindGizmos;

/// Debug view of the last shots: drawn hit boxes in red, tested ones in blue, present ones in grey, the
/// ray, the bounds of the candidates, and the snapshots that were used. Add shots with
/// [`push_tested`](Self::push_tested) and [`push_drawn`](Self::push_drawn); the weapons of this suite do so.
#[doc(alias = "sv_showlagcompensation")]
#[derive(Resource, Clone, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct RewindView {
    /// Whether to draw. Default: `false`.
    pub enabled: bool,
    /// Time for which a shot is visible. Default: 6 s.
    pub lifetime: Duration,
    /// Maximum number of visible shots. Default: 3, since more are hard to tell apart.
    pub shots: usize,
    // Evidence in the form in which it is recorded.
    #[reflect(ignore)]
    tested: VecDeque<(Option<Duration>, ShotEvidence)>,
    #[reflect(ignore)]
    drawn: VecDeque<(Option<Duration>, DrawnEvidence)>,
}

impl Default for RewindView {
    fn default() -> Self {
        Self {
            enabled: false,
            lifetime: Duration::from_secs(6),
            shots: 3,
            tested: VecDeque::new(),
            drawn: VecDeque::new(),
        }
    }
}

impl RewindView {
    /// Adds a shot as the server tested it.
    pub fn push_tested(&mut self, evidence: ShotEvidence) {
        push(&mut self.tested, evidence, self.shots);
    }

    /// Adds a shot as this app's screen showed it.
    pub fn push_drawn(&mut self, evidence: DrawnEvidence) {
        push(&mut self.drawn, evidence, self.shots);
    }

    /// Removes expired shots.
    fn age(&mut self, now: Duration) {
        if !self.enabled {
            self.tested.clear();
            self.drawn.clear();
        }
        age(&mut self.tested, now, self.lifetime);
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

/// Plugin that draws the [`RewindView`] and records recent frames for it. Off until
/// [`RewindView::enabled`] is set. Add it after Bevy's plugins; without Bevy's `GizmoPlugin`, as on a
/// headless server, it does nothing.
#[derive(Debug, Default)]
pub struct RewindViewPlugin;

impl Plugin for RewindViewPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<RewindView>().init_resource::<DrawnFrames>();
        if !app.is_plugin_added::<GizmoPlugin>() {
            return;
        }
        // Draw in front of everything: differences of millimetres would be hidden inside the pawn.
        let line = GizmoLineConfig { width: 1.0, ..default() };
        app.insert_gizmo_config(RewindGizmos, GizmoConfig { depth_bias: -1.0, line, ..default() })
            .init_resource::<PoseSampler>()
            .init_resource::<DrawnViewTime>()
            .add_systems(
                PostUpdate,
                (
                    record.after(VisualSystems::Draw).after(RewindSystems::ReadLimbs),
                    draw.after(TransformSystems::Propagate),
                ),
            );
    }
}

fn record(
    view: Res<RewindView>,
    time: Res<DrawnViewTime>,
    query: DrawnQuery,
    mut frames: ResMut<DrawnFrames>,
) {
    frames.set_enabled(view.enabled);
    frames.record(time.0, &query);
}

fn draw(
    time: Res<Time<Real>>,
    sampler: Res<PoseSampler>,
    mut view: ResMut<RewindView>,
    mut gizmos: Gizmos<RewindGizmos>,
) {
    view.age(time.elapsed());
    for (_, evidence) in &view.tested {
        evidence.lines(&sampler, &mut |a, b, part| gizmos.line(a, b, colour(part)));
        let Ok(way) = Dir3::new(evidence.direction) else { continue };
        // Labels face the origin of the shot.
        let facing = Transform::default().looking_to(way, Vec3::Y).rotation;
        evidence.labels(&sampler, &mut |at, text| {
            let letters = at.distance(evidence.origin) * LABEL_HEIGHT;
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
        EvidencePart::Tested => tailwind::BLUE_500,
        EvidencePart::Live => tailwind::GRAY_400.with_alpha(0.5),
        EvidencePart::Envelope => tailwind::BLUE_300.with_alpha(0.25),
        EvidencePart::Ray => tailwind::YELLOW_300,
        EvidencePart::Hit => tailwind::GREEN_400,
        EvidencePart::Wall => tailwind::ORANGE_400,
    };
    colour.into()
}
