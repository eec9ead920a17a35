// shaders.ts - how things are drawn: one light for all, balls as exact spheres on squares
// (impostors), other shapes and tubes as instanced triangles.

/** Instances carry bits of this in `iFlags`. */
export const flag = { selected: 1, grey: 2, hidden: 4, wall: 8, faint: 16 };

// colour of a value, and light: a key light beside the camera, the sky from above, a soft edge
const common = /* glsl */ `
precision highp float;
uniform sampler2D uMap;
uniform vec2 uRange;
uniform vec4 uClip;        // plane in the world: dot(xyz, p) > w is cut away
uniform float uClipOn;
uniform vec3 uUp;          // in the world
uniform vec3 uGrey;
uniform float uGlass;      // 1: only edges are seen
uniform float uAlpha;
uniform float uFlatLight;  // 1: in 2D
uniform vec3 uPick;        // colour of what is selected

bool has(float flags, float bit) { return mod(floor((flags + 0.25) / bit), 2.0) > 0.5; }
float clipped(vec3 p) { return uClipOn > 0.5 && dot(uClip.xyz, p) > uClip.w ? 1.0 : 0.0; }

vec3 baseColour(float value, float flags) {
  float t = clamp((value - uRange.x) / max(uRange.y - uRange.x, 1e-30), 0.0, 1.0);
  vec3 c = texture2D(uMap, vec2(0.5 / 256.0 + t * 255.0 / 256.0, 0.5)).rgb;
  if (has(flags, 2.0)) c = uGrey;
  if (has(flags, 1.0)) c = mix(c, uPick, 0.75);
  return c;
}

vec4 lit(vec3 c, vec3 normal, vec3 view, vec3 up) {
  if (uFlatLight > 0.5) return vec4(c, uAlpha);
  vec3 linear = c * c;
  vec3 key = normalize(vec3(-0.45, 0.75, 0.62)), fill = normalize(vec3(0.8, 0.1, 0.35));
  float sky = 0.5 + 0.5 * dot(normal, up);
  float edge = 1.0 - max(dot(normal, -view), 0.0);
  float light = mix(0.26, 0.44, sky) + 0.62 * max(dot(normal, key), 0.0) + 0.16 * max(dot(normal, fill), 0.0);
  float shine = pow(max(dot(reflect(view, normal), key), 0.0), 36.0) * 0.16;
  vec3 out_ = linear * light + vec3(shine) + linear * 0.22 * pow(edge, 3.0);
  float alpha = uAlpha;
  if (uGlass > 0.5) {
    alpha = uAlpha * (0.05 + 0.55 * pow(edge, 2.6)) + shine * 1.2;
    out_ = mix(out_, vec3(0.5, 0.56, 0.64), 0.22) + vec3(0.05) * pow(edge, 2.0);
  }
  return vec4(sqrt(out_), min(alpha, 1.0));
}
`;

export const ballVertex = common + /* glsl */ `
attribute vec3 iPosition;
attribute float iRadius;
attribute vec4 iRotation;
attribute float iValue;
attribute float iFlags;
varying vec3 vView;
varying vec3 vCentre;
varying float vRadius;
varying float vValue;
varying float vFlags;
varying vec4 vRotation;
void main() {
  vec4 centre = viewMatrix * vec4(iPosition, 1.0);
  float r = has(iFlags, 4.0) ? 0.0 : iRadius;
  vec3 toward = normalize(centre.xyz);
  vec3 side = normalize(abs(toward.y) < 0.99 ? cross(toward, vec3(0.0, 1.0, 0.0)) : vec3(1.0, 0.0, 0.0));
  vec3 above = cross(side, toward);
  float d2 = dot(centre.xyz, centre.xyz);
  // the square that covers the ball as the eye sees it
  float grow = r * sqrt(d2 / max(d2 - r * r, 1e-6 * d2)) * 1.01;
  vView = centre.xyz + grow * (position.x * side + position.y * above);
  vCentre = centre.xyz;
  vRadius = r;
  vValue = iValue;
  vFlags = iFlags;
  vRotation = iRotation;
  gl_Position = projectionMatrix * vec4(vView, 1.0);
}`;

export const ballFragment = common + /* glsl */ `
uniform mat4 uViewInverse;
uniform mat4 uProjection;
uniform float uMarks;
varying vec3 vView;
varying vec3 vCentre;
varying float vRadius;
varying float vValue;
varying float vFlags;
varying vec4 vRotation;
vec3 turnBack(vec4 q, vec3 v) { return v + 2.0 * cross(-q.xyz, cross(-q.xyz, v) + q.w * v); }
void main() {
  vec3 ray = normalize(vView);
  float b = dot(ray, vCentre);
  float inside = b * b - dot(vCentre, vCentre) + vRadius * vRadius;
  if (inside < 0.0 || vRadius <= 0.0) discard;
  float root = sqrt(inside), t = b - root;
  vec3 p = t * ray, normal = (p - vCentre) / vRadius;
  float cap = 0.0;
  if (uClipOn > 0.5) {
    vec3 at = (uViewInverse * vec4(p, 1.0)).xyz;
    if (dot(uClip.xyz, at) > uClip.w) {
      // look through the clipped part, at the plane or behind it
      vec3 direction = mat3(uViewInverse) * ray, eye = uViewInverse[3].xyz;
      float slope = dot(uClip.xyz, direction);
      float tp = (uClip.w - dot(uClip.xyz, eye)) / slope;
      if (slope > -1e-9 || tp < t || tp > b + root) discard;
      p = tp * ray;
      normal = normalize((viewMatrix * vec4(uClip.xyz, 0.0)).xyz);
      cap = 1.0;
    }
  }
  vec4 clip = uProjection * vec4(p, 1.0);
  gl_FragDepth = 0.5 * clip.z / clip.w + 0.5;
  vec3 c = baseColour(vValue, vFlags);
  if (uMarks > 0.5 && cap < 0.5) {
    vec3 own = turnBack(vRotation, mat3(uViewInverse) * normal);
    c *= 1.0 - 0.26 * (1.0 - smoothstep(0.05, 0.09, abs(own.z)));
  }
  if (cap > 0.5) c *= 0.82;
  gl_FragColor = lit(c, normal, ray, (viewMatrix * vec4(uUp, 0.0)).xyz);
  if (has(vFlags, 16.0)) gl_FragColor.a *= 0.12;
}`;

// A ball of a few pixels: a point at the depth of its front, lit as a ball. As it writes no depth of its
// own, hidden fragments are never shaded; runview.ts draws the nearest balls first.
export const dotVertex = common + /* glsl */ `
attribute float iRadius;
attribute float iValue;
attribute float iFlags;
uniform float uFocal;      // pixels a metre has at distance 1
varying vec3 vColour;
varying float vFaint;
void main() {
  vec4 centre = viewMatrix * vec4(position, 1.0);
  bool off = has(iFlags, 4.0) || clipped(position) > 0.5;
  vColour = baseColour(iValue, iFlags);
  vFaint = has(iFlags, 16.0) ? 0.12 : 1.0;
  gl_Position = off ? vec4(2.0, 2.0, 2.0, 1.0) : projectionMatrix * vec4(centre.xy, centre.z + 0.5 * iRadius, 1.0);
  gl_PointSize = max(2.0 * iRadius * uFocal / max(-centre.z, 1e-9), 1.0);
}`;

export const dotFragment = common + /* glsl */ `
varying vec3 vColour;
varying float vFaint;
void main() {
  vec2 at = vec2(2.0 * gl_PointCoord.x - 1.0, 1.0 - 2.0 * gl_PointCoord.y);
  float r2 = dot(at, at);
  if (r2 > 1.0) discard;
  gl_FragColor = lit(vColour, vec3(at, sqrt(1.0 - r2)), vec3(0.0, 0.0, -1.0), (viewMatrix * vec4(uUp, 0.0)).xyz);
  gl_FragColor.a *= vFaint;
}`;

export const solidVertex = common + /* glsl */ `
attribute float rim;
attribute vec3 iPosition;
attribute vec4 iRotation;
attribute vec3 iScale;
attribute float iValue;
attribute float iFlags;
varying vec3 vWorld;
varying vec3 vView;
varying vec3 vNormal;
varying float vValue;
varying float vFlags;
varying float vRim;
#ifdef EVEN
varying vec4 vLit;
#endif
vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
void main() {
  vec3 scale = has(iFlags, 4.0) ? vec3(0.0) : iScale;
  vec3 world = iPosition + turn(iRotation, position * scale);
  vec4 view = viewMatrix * vec4(world, 1.0);
  vWorld = world;
  vView = view.xyz;
  vNormal = (viewMatrix * vec4(turn(iRotation, normal / max(iScale, vec3(1e-12))), 0.0)).xyz;
  vValue = iValue;
  vFlags = iFlags;
  vRim = rim;
  gl_Position = projectionMatrix * view;
#ifdef EVEN
  vec3 ray = normalize(view.xyz), n = normalize(vNormal);
  vLit = lit(baseColour(iValue, iFlags), dot(n, ray) > 0.0 ? -n : n, ray, (viewMatrix * vec4(uUp, 0.0)).xyz);
#endif
}`;

// the sharp edges of solids, as dark lines; they fade where a body is only some pixels thick
export const edgeVertex = common + /* glsl */ `
attribute vec3 iPosition;
attribute vec4 iRotation;
attribute vec3 iScale;
attribute float iValue;
attribute float iFlags;
uniform float uThin;       // m: the smallest side of the shape
uniform float uFocal;      // pixels a metre has at distance 1
varying vec3 vWorld;
varying vec4 vColour;
vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
void main() {
  vWorld = iPosition + turn(iRotation, position * (has(iFlags, 4.0) ? vec3(0.0) : iScale));
  vec4 view = viewMatrix * vec4(vWorld, 1.0);
  float pixels = uThin * min(iScale.x, min(iScale.y, iScale.z)) * uFocal / max(-view.z, 1e-9);
  vColour = vec4(0.3 * baseColour(iValue, iFlags), 0.85 * smoothstep(2.0, 12.0, pixels));
  gl_Position = projectionMatrix * view;
}`;

export const edgeFragment = common + /* glsl */ `
varying vec3 vWorld;
varying vec4 vColour;
void main() {
  if (clipped(vWorld) > 0.5) discard;
  gl_FragColor = vColour;
}`;

// a tube from one point to another; `position` runs around it and from 0 to 1 along z
export const tubeVertex = common + /* glsl */ `
attribute vec3 iFrom;
attribute vec3 iTo;
attribute float iRadius;
attribute float iValue;
attribute float iFlags;
varying vec3 vWorld;
varying vec3 vView;
varying vec3 vNormal;
varying float vValue;
varying float vFlags;
varying float vRim;
void main() {
  vec3 axis = iTo - iFrom;
  float len = max(length(axis), 1e-12);
  vec3 z = axis / len;
  vec3 x = normalize(abs(z.x) < 0.9 ? cross(z, vec3(1.0, 0.0, 0.0)) : cross(z, vec3(0.0, 1.0, 0.0)));
  vec3 y = cross(z, x);
  float r = has(iFlags, 4.0) ? 0.0 : iRadius;
  vec3 world = iFrom + r * (position.x * x + position.y * y) + position.z * len * z;
  vec4 view = viewMatrix * vec4(world, 1.0);
  vWorld = world;
  vView = view.xyz;
  vNormal = (viewMatrix * vec4(normal.x * x + normal.y * y + normal.z * z, 0.0)).xyz;
  vValue = iValue;
  vFlags = iFlags;
  vRim = 0.0;
  gl_Position = projectionMatrix * view;
}`;

export const solidFragment = common + /* glsl */ `
varying vec3 vWorld;
varying vec3 vView;
varying vec3 vNormal;
varying float vValue;
varying float vFlags;
varying float vRim;
uniform float uPerspective;
#ifdef EVEN
varying vec4 vLit;
void main() { gl_FragColor = vLit; }
#else
void main() {
  if (clipped(vWorld) > 0.5) discard;
  vec3 normal = normalize(vNormal), ray = uPerspective > 0.5 ? normalize(vView) : vec3(0.0, 0.0, -1.0);
  vec3 c = baseColour(vValue, vFlags);
  if (!gl_FrontFacing) { normal = -normal; if (uGlass < 0.5 && uClipOn > 0.5) c *= 0.7; }
  if (uFlatLight > 0.5) c *= 1.0 - 0.42 * smoothstep(0.86, 0.92, vRim);
  gl_FragColor = lit(c, normal, ray, (viewMatrix * vec4(uUp, 0.0)).xyz);
  if (has(vFlags, 16.0)) gl_FragColor.a *= 0.12;
}
#endif`;

export const screenVertex = /* glsl */ `
varying vec2 vUv;
void main() { vUv = 0.5 * position.xy + 0.5; gl_Position = vec4(position.xy, 0.0, 1.0); }`;

// Ambient occlusion: how much of the surroundings is in front of a point, from depth alone.
export const shadeFragment = /* glsl */ `
precision highp float;
uniform sampler2D uColour;
uniform sampler2D uDepth;
uniform vec2 uPixel;
uniform vec2 uNearFar;
uniform float uReach;      // m
uniform float uFocal;      // pixels a metre has at distance 1
uniform float uStrength;
uniform float uPerspective;
varying vec2 vUv;
float distanceAt(vec2 uv) {
  float z = texture2D(uDepth, uv).r;
  if (uPerspective < 0.5) return mix(uNearFar.x, uNearFar.y, z);
  return uNearFar.x * uNearFar.y / (uNearFar.y - z * (uNearFar.y - uNearFar.x));
}
float least(float a, float b) { return abs(a) < abs(b) ? a : b; }
float noise(vec2 p) { return fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))); }
void main() {
  vec4 c = texture2D(uColour, vUv);
  float d = distanceAt(vUv);
  if (uStrength > 0.0 && d < 0.99 * uNearFar.y) {
    float radius = clamp(uReach * uFocal / d, 3.0, 44.0), shade = 0.0;
    float turn = 6.2832 * noise(gl_FragCoord.xy);
    // 1/distance of a plane is linear on the screen: points in the plane of the point do not occlude it
    float near_ = 1.0 / d;
    vec2 slope = vec2(least(1.0 / distanceAt(vUv + vec2(uPixel.x, 0.0)) - near_, near_ - 1.0 / distanceAt(vUv - vec2(uPixel.x, 0.0))),
                      least(1.0 / distanceAt(vUv + vec2(0.0, uPixel.y)) - near_, near_ - 1.0 / distanceAt(vUv - vec2(0.0, uPixel.y))));
    for (int i = 0; i < SAMPLES; i++) {
      float s = (float(i) + 0.5) / float(SAMPLES), a = turn + 2.4 * float(i);
      vec2 way = floor(radius * sqrt(s) * vec2(cos(a), sin(a)) + 0.5); // whole pixels: depth is not interpolated
      float plane = 1.0 / max(near_ + dot(slope, way), 0.2 * near_);
      float nearer = (plane - distanceAt(vUv + way * uPixel)) / uReach;
      shade += smoothstep(0.05, 0.65, nearer) * (1.0 - smoothstep(1.0, 2.6, nearer));
    }
    c.rgb *= 1.0 - uStrength * min(shade / float(SAMPLES) * 1.35, 1.0);
  }
  gl_FragColor = c;
}`;
