//! Weapon models: one simple model per kind, for the first-person and the third-person view.

use bevy::{light::NotShadowCaster, prelude::*, transform::TransformSystems};
use bevy_unlag::{
    prelude::*,
    weapons::{HeldWeapon, Shot},
};

/// Rate at which a weapon is raised and lowered, in 1/s.
const EASE: f32 = 12.0;

/// Builds the model of every [`WeaponModel`].
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, make_parts).add_systems(PostUpdate, dress.before(TransformSystems::Propagate));
}

/// Shows a weapon. The grip is at this entity's origin, and the muzzle points to -Z.
#[derive(Component, Debug, Default)]
#[require(Transform, Visibility)]
pub struct WeaponModel {
    kind: Option<Kind>,
    /// Fraction by which it is lowered for a reload, 0 to 1.
    pub lowered: f32,
    /// Fraction by which it is raised for aiming, 0 to 1.
    pub raised: f32,
}

impl WeaponModel {
    /// Follows the held weapon for one frame of `seconds`.
    pub fn follow(this: &mut Mut<Self>, held: Option<&HeldWeapon>, arsenal: &Arsenal, seconds: f32) {
        let kind = held.and_then(|held| arsenal.get(held.weapon?)).map(|weapon| Kind::of(&weapon.shot));
        let part = 1.0 - (-EASE * seconds).exp();
        let towards = |now: f32, wanted: bool| now + (f32::from(u8::from(wanted)) - now) * part;
        let lowered = towards(this.lowered, held.is_some_and(|held| held.reloading));
        let raised = towards(this.raised, held.is_some_and(|held| held.aiming && !held.reloading));
        let quiet = this.bypass_change_detection();
        (quiet.lowered, quiet.raised) = (lowered, raised);
        if this.kind != kind {
            this.kind = kind;
        }
    }
}

/// Kind of a weapon model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Rifle,
    Shotgun,
    Launcher,
    Knife,
}

impl Kind {
    fn of(shot: &Shot) -> Self {
        match shot {
            Shot::Pellets { .. } => Self::Shotgun,
            Shot::Projectile(_) => Self::Launcher,
            Shot::Melee { .. } => Self::Knife,
            Shot::Ray { .. } | Shot::Beam { .. } => Self::Rifle,
        }
    }
}

#[derive(Clone)]
struct Part(Mesh3d, MeshMaterial3d<StandardMaterial>, Transform);

/// Parts of every kind, created once.
#[derive(Resource)]
struct Parts([Vec<Part>; 4]);

fn make_parts(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mut paint = |red, green, blue| {
        materials.add(StandardMaterial {
            base_color: Color::srgb(red, green, blue),
            perceptual_roughness: 0.6,
            ..default()
        })
    };
    let (metal, wood) = (paint(0.12, 0.13, 0.15), paint(0.42, 0.25, 0.12));
    let (olive, tip, steel) = (paint(0.28, 0.34, 0.16), paint(0.85, 0.30, 0.12), paint(0.80, 0.84, 0.88));
    let mut part = |mesh: Mesh, material: &Handle<StandardMaterial>, x, y, z| {
        let material = MeshMaterial3d(material.clone());
        Part(Mesh3d(meshes.add(mesh)), material, Transform::from_xyz(x, y, z))
    };
    let block = |x, y, z| Mesh::from(Cuboid::new(x, y, z));
    // Along Z, as a barrel.
    let round = |radius, length| {
        let upright = Mesh::from(Cylinder::new(radius, length));
        upright.rotated_by(Quat::from_rotation_x(core::f32::consts::FRAC_PI_2))
    };
    let rifle = vec![
        part(block(0.028, 0.035, 0.50), &metal, 0.0, 0.03, -0.37),
        part(block(0.05, 0.085, 0.28), &metal, 0.0, 0.02, -0.02),
        part(block(0.035, 0.13, 0.06), &metal, 0.0, -0.08, -0.09),
        part(block(0.045, 0.10, 0.20), &wood, 0.0, -0.01, 0.20),
    ];
    let shotgun = vec![
        part(block(0.055, 0.05, 0.36), &metal, 0.0, 0.03, -0.25),
        part(block(0.075, 0.06, 0.17), &wood, 0.0, -0.015, -0.24),
        part(block(0.065, 0.10, 0.20), &metal, 0.0, 0.01, 0.0),
        part(block(0.055, 0.11, 0.18), &wood, 0.0, -0.03, 0.18),
    ];
    let launcher = vec![
        part(round(0.065, 0.85), &olive, 0.0, 0.07, -0.12),
        part(round(0.085, 0.10), &olive, 0.0, 0.07, 0.28),
        part(round(0.05, 0.06), &tip, 0.0, 0.07, -0.54),
        part(block(0.04, 0.12, 0.05), &metal, 0.0, -0.04, 0.0),
    ];
    let knife = vec![
        part(block(0.03, 0.04, 0.12), &wood, 0.0, 0.0, 0.0),
        part(block(0.07, 0.045, 0.02), &metal, 0.0, 0.0, -0.065),
        part(block(0.012, 0.04, 0.24), &steel, 0.0, 0.005, -0.19),
    ];
    commands.insert_resource(Parts([rifle, shotgun, launcher, knife]));
}

fn dress(
    models: Query<(Entity, &WeaponModel), Changed<WeaponModel>>,
    parts: Res<Parts>,
    mut commands: Commands,
) {
    for (entity, model) in &models {
        let mut model_of = commands.entity(entity);
        model_of.despawn_related::<Children>();
        let Some(kind) = model.kind else { continue };
        model_of.with_children(|weapon| {
            for Part(mesh, material, place) in &parts.0[kind as usize] {
                weapon.spawn((mesh.clone(), material.clone(), *place, NotShadowCaster));
            }
        });
    }
}
