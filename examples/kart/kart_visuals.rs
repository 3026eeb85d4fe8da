//! Visuals of the karts: the own one, the copies of the remote one, and the ghost.

use bevy::{camera::visibility::VisibilitySystems, prelude::*, transform::TransformSystems};
use bevy_unlag::{
    core::{ProxySmoothing, VisualSystems},
    movement::{KartConfig, KartState},
    prelude::*,
    smoothing::ProxyTime,
};
use unlag_examples::kart::{
    copies::{CopyOf, MODES},
    ground_truth::{GroundTruth, TruePose},
};

use crate::{
    camera::CameraTargets,
    view_settings::{COLOURS, Ghost, OWN, ViewSettings},
};

/// Draws the karts.
pub struct KartVisualsPlugin;

impl Plugin for KartVisualsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn).add_systems(
            PostUpdate,
            place
                .in_set(KartVisualSystems)
                .after(VisualSystems::Draw)
                .before(TransformSystems::Propagate)
                .before(VisibilitySystems::VisibilityPropagate),
        );
    }
}

/// System set that places the karts, in [`PostUpdate`].
#[derive(SystemSet, Clone, PartialEq, Eq, Hash, Debug)]
pub struct KartVisualSystems;

/// Kart that a visual represents.
#[derive(Component, Clone, Copy, PartialEq, Eq, Debug)]
enum KartVisual {
    Own,
    /// The remote kart in one of the smoothing modes.
    Copy(usize),
    Ghost,
}

/// A steered front wheel; a child of its kart.
#[derive(Component)]
struct FrontWheel;

fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let body = meshes.add(Cuboid::new(0.9, 0.30, 1.9));
    let nose = meshes.add(Cuboid::new(0.5, 0.18, 0.5));
    let seat = meshes.add(Cuboid::new(0.6, 0.45, 0.15));
    let head = meshes.add(Sphere::new(0.19));
    let wheel = meshes.add(Cylinder::new(0.26, 0.22));
    let looks = [(KartVisual::Own, OWN)]
        .into_iter()
        .chain(COLOURS.iter().enumerate().map(|(mode, colour)| (KartVisual::Copy(mode), *colour)))
        .chain([(KartVisual::Ghost, Color::srgba(1.0, 1.0, 1.0, 0.35))]);
    for (look, colour) in looks {
        let glass = look == KartVisual::Ghost;
        let mut paint = |base_color: Color| {
            let alpha_mode = if glass { AlphaMode::Blend } else { AlphaMode::Opaque };
            let base_color = if glass { colour } else { base_color };
            materials.add(StandardMaterial {
                base_color,
                alpha_mode,
                perceptual_roughness: 0.7,
                reflectance: 0.3,
                unlit: glass,
                ..default()
            })
        };
        let (paint_body, dark, skin) =
            (paint(colour), paint(Color::srgb(0.08, 0.08, 0.09)), paint(Color::srgb(0.92, 0.90, 0.86)));
        commands.spawn((look, Transform::default(), Visibility::Hidden)).with_children(|kart| {
            let mut part = |mesh: &Handle<Mesh>, material: &Handle<StandardMaterial>, x, y, z| {
                kart.spawn((
                    Mesh3d(mesh.clone()),
                    MeshMaterial3d(material.clone()),
                    Transform::from_xyz(x, y, z),
                ))
                .id()
            };
            part(&body, &paint_body, 0.0, 0.34, 0.0);
            part(&nose, &paint_body, 0.0, 0.30, -1.15);
            part(&seat, &dark, 0.0, 0.70, 0.45);
            part(&head, &skin, 0.0, 0.88, 0.18);
            let upright = Quat::from_rotation_z(core::f32::consts::FRAC_PI_2);
            for (x, z) in [(-0.62, -0.72), (0.62, -0.72), (-0.62, 0.72), (0.62, 0.72)] {
                let place = Transform::from_xyz(x, 0.26, z).with_rotation(upright);
                let mut spawned = kart.spawn((Mesh3d(wheel.clone()), MeshMaterial3d(dark.clone()), place));
                if z < 0.0 {
                    spawned.insert(FrontWheel);
                }
            }
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
        visibility.set_if_neq(if seen.is_some() { Visibility::Inherited } else { Visibility::Hidden });
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
