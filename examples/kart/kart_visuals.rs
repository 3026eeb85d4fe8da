//! Visuals of the karts: the own one, the copies of the remote one, and the ghost.

use bevy::{camera::visibility::VisibilitySystems, prelude::*, transform::TransformSystems};
use bevy_unlag::{
    core::{ProxySmoothing, VisualSystems},
    movement::{KartConfig, KartState},
    prelude::*,
    smoothing::ProxyTime,
};
use unlag_examples::{
    kart::{
        copies::{CopyOf, MODES},
        ground_truth::{GroundTruth, TruePose},
    },
    screen::scene::{FrontWheel, glass, spawn_kart_parts, visible},
};

use crate::{
    camera::{CameraSystems, CameraTargets},
    view_settings::{COLOURS, Ghost, OWN, ViewSettings},
};

/// Draws the karts.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, spawn).add_systems(
        PostUpdate,
        place
            .after(VisualSystems::Draw)
            .before(CameraSystems)
            .before(TransformSystems::Propagate)
            .before(VisibilitySystems::VisibilityPropagate),
    );
}

/// Kart that a visual represents.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug)]
enum KartVisual {
    Own,
    /// The remote kart in one of the smoothing modes.
    Copy(usize),
    Ghost,
}

fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let head = meshes.add(Sphere::new(0.19));
    let looks = [(KartVisual::Own, OWN)]
        .into_iter()
        .chain(COLOURS.iter().enumerate().map(|(mode, colour)| (KartVisual::Copy(mode), *colour)))
        .chain([(KartVisual::Ghost, Color::srgba(1.0, 1.0, 1.0, 0.35))]);
    for (look, colour) in looks {
        let mut paint = |base_color: Color| match look {
            KartVisual::Ghost => materials.add(glass(colour)),
            _ => materials.add(StandardMaterial { base_color, reflectance: 0.3, ..default() }),
        };
        let (body, dark) = (paint(colour), paint(Color::srgb(0.08, 0.08, 0.09)));
        let skin = paint(Color::srgb(0.92, 0.90, 0.86));
        commands.spawn((look, Transform::default(), Visibility::Hidden)).with_children(|kart| {
            spawn_kart_parts(kart, &mut meshes, [&body, &dark]);
            kart.spawn((Mesh3d(head.clone()), MeshMaterial3d(skin), Transform::from_xyz(0.0, 0.88, 0.18)));
        });
    }
}

/// Drawn pose of a kart, and its steering.
#[derive(Clone, Copy)]
struct DrawnKart {
    position: Vec3,
    rotation: Quat,
    steering: f32,
}

impl DrawnKart {
    fn drawn(drawn: &DrawnPose, offset: &VisualOffset, radius: f32) -> Option<Self> {
        let pose = &drawn.pose;
        let along = pose.velocity.dot(pose.rotation * Vec3::NEG_Z);
        // A turn of 1/radius per metre is full steering.
        let steering = if along.abs() > 0.5 { (pose.spin * radius / along).clamp(-1.0, 1.0) } else { 0.0 };
        pose.alive.then_some(Self {
            position: pose.position + offset.offset,
            rotation: offset.turn * pose.rotation,
            steering,
        })
    }
}

impl From<TruePose> for DrawnKart {
    fn from(place: TruePose) -> Self {
        Self { position: place.position, rotation: place.rotation, steering: 0.0 }
    }
}

fn place(
    (picture, config, truth): (Res<ViewSettings>, Res<KartConfig>, Res<GroundTruth>),
    mut followed: ResMut<CameraTargets>,
    own: Query<(&DrawnPose, &VisualOffset, &KartState), With<LocalControl>>,
    copies: Query<(&CopyOf, &ProxySmoothing, &DrawnPose, &VisualOffset, &ProxyTime)>,
    pawns: Query<&NetId>,
    mut looks: Query<(&KartVisual, &Children, &mut Transform, &mut Visibility), Without<FrontWheel>>,
    mut wheels: Query<&mut Transform, With<FrontWheel>>,
) {
    let of = |mode: ProxySmoothing| copies.iter().find(|(_, known, ..)| **known == mode);
    let beside = |mode: usize| followed.right() * picture.lane(mode);
    let own = own.iter().next().and_then(|(drawn, offset, state)| {
        let (_, steering) = state.last_input.axes();
        DrawnKart::drawn(drawn, offset, config.min_turning_radius)
            .map(|seen| DrawnKart { steering: -steering, ..seen })
    });
    let cubic = of(ProxySmoothing::Hermite);
    let id = cubic.and_then(|(copy, ..)| pawns.get(copy.0).ok()).copied();
    let then = cubic.and_then(|(.., proxy)| truth.at(id?, proxy.drawn?));
    let ghost = match picture.ghost {
        Ghost::Off => None,
        Ghost::AtViewTime => then,
        Ghost::Now => id.and_then(|id| truth.at(id, truth.now(id)?)),
    };
    // The ghost is drawn in the Hermite lane, where it can be compared with that copy.
    let ghost_lane =
        MODES.iter().position(|(mode, _)| *mode == ProxySmoothing::Hermite).map_or(Vec3::ZERO, beside);
    let seen = |look: &KartVisual| match look {
        KartVisual::Own => own,
        KartVisual::Copy(mode) => {
            let (_, _, drawn, offset, _) = of(MODES.get(*mode)?.0).filter(|_| picture.shown[*mode])?;
            let seen = DrawnKart::drawn(drawn, offset, config.min_turning_radius)?;
            Some(DrawnKart { position: seen.position + beside(*mode), ..seen })
        }
        KartVisual::Ghost => {
            ghost.map(DrawnKart::from).map(|seen| DrawnKart { position: seen.position + ghost_lane, ..seen })
        }
    };
    for (look, children, mut transform, mut visibility) in &mut looks {
        let seen = seen(look);
        visibility.set_if_neq(visible(seen.is_some()));
        let Some(DrawnKart { position, rotation, steering }) = seen else { continue };
        *transform = Transform::from_translation(position).with_rotation(rotation);
        let mut wheels = wheels.iter_many_mut(children);
        while let Some(mut wheel) = wheels.fetch_next() {
            wheel.rotation =
                Quat::from_rotation_y(steering * 0.45) * Quat::from_rotation_z(core::f32::consts::FRAC_PI_2);
        }
    }
    followed.own = own.map(|seen| (seen.position, seen.rotation));
    followed.other = then.map(|place| (place.position, place.rotation));
}
