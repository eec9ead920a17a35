// stage.ts - the canvas: camera and its controls, ambient occlusion, one or two views side by side.
import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import type { RunView } from './runview';
import { screenVertex, shadeFragment } from './shaders';

export type StandardView = 'home' | 'front' | 'back' | 'left' | 'right' | 'top' | 'bottom';

export class Stage {
  readonly canvas: HTMLCanvasElement;
  readonly renderer: THREE.WebGLRenderer;
  readonly camera: THREE.PerspectiveCamera | THREE.OrthographicCamera;
  readonly controls: OrbitControls;
  readonly software: boolean;
  private scenes: THREE.Scene[] = [];
  private views: RunView[] = [];
  private target: THREE.WebGLRenderTarget;
  private shade: THREE.ShaderMaterial;
  private screen = new THREE.Mesh(new THREE.PlaneGeometry(2, 2));
  private screenCamera = new THREE.OrthographicCamera(-1, 1, 1, -1, 0, 1);
  private background = new THREE.Color(0x14171c);
  private dirty = true;
  shading = true;
  follow: (() => THREE.Vector3 | null) | null = null;
  private followed: THREE.Vector3 | null = null;
  private coarse = false;
  steady = false; // the canvas keeps its size, however slow it is
  private slow = 0; // pictures in a row that took long
  private ticked = 0;
  private moved = 0;
  frames = 0; // drawn so far
  private fitted: StandardView | null = null; // where it looks from, until somebody turns the view
  onDraw: (() => void) | null = null;

  constructor(host: HTMLElement, readonly flat: boolean, readonly up: THREE.Vector3) {
    this.renderer = new THREE.WebGLRenderer({ antialias: false, powerPreference: 'high-performance', preserveDrawingBuffer: true });
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace;
    this.renderer.autoClear = false; // each view covers its part of the canvas
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', 'The bodies of the run');
    host.append(this.canvas);
    this.software = isSoftware(this.renderer.getContext());
    document.documentElement.classList.toggle('software', this.software);
    this.camera = flat ? new THREE.OrthographicCamera(-1, 1, 1, -1, -100, 100) : new THREE.PerspectiveCamera(32, 1, 0.01, 100);
    this.camera.up.copy(flat ? new THREE.Vector3(0, 1, 0) : up);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableRotate = !flat;
    this.controls.screenSpacePanning = true;
    this.controls.zoomToCursor = true;
    if (flat) this.controls.mouseButtons.LEFT = THREE.MOUSE.PAN;
    this.controls.addEventListener('change', () => this.redraw());
    this.controls.addEventListener('start', () => { this.fitted = null; });
    this.target = this.makeTarget();
    this.shade = new THREE.ShaderMaterial({
      vertexShader: screenVertex, fragmentShader: shadeFragment, defines: { SAMPLES: this.software ? 10 : 16 }, depthTest: false, depthWrite: false,
      uniforms: {
        uColour: { value: null }, uDepth: { value: null }, uPixel: { value: new THREE.Vector2() }, uNearFar: { value: new THREE.Vector2() },
        uReach: { value: 0.05 }, uFocal: { value: 1 }, uStrength: { value: 0.75 }, uPerspective: { value: flat ? 0 : 1 },
      },
    });
    this.screen.material = this.shade;
    this.screen.frustumCulled = false;
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
    this.renderer.setAnimationLoop(() => this.tick());
  }

  private makeTarget(): THREE.WebGLRenderTarget {
    const t = new THREE.WebGLRenderTarget(4, 4, { samples: this.software ? 0 : 4 });
    t.depthTexture = new THREE.DepthTexture(4, 4, THREE.UnsignedIntType);
    return t;
  }

  /** Smooth edges, at any cost. */
  fine(): void { this.target.dispose(); this.target.samples = 4; }

  setViews(views: RunView[]): void {
    this.views = views;
    this.scenes = views.map((v) => {
      const s = new THREE.Scene();
      s.add(v.root);
      v.style.uniforms['uUp'].value.copy(this.up);
      return s;
    });
    this.resize();
  }

  setBackground(c: string): void { this.background.set(c).convertLinearToSRGB(); this.redraw(); }

  redraw(): void { this.dirty = true; }

  resize(): void {
    const host = this.canvas.parentElement!;
    const ratio = Math.min(window.devicePixelRatio, this.software ? 1 : 2) * (this.coarse ? 0.5 : 1);
    const w = Math.max(2, host.clientWidth), h = Math.max(2, host.clientHeight);
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(w, h);
    const n = Math.max(1, this.views.length);
    this.target.setSize(Math.floor((w * ratio) / n), Math.floor(h * ratio));
    const aspect = w / n / h;
    if (this.camera instanceof THREE.PerspectiveCamera) this.camera.aspect = aspect;
    else {
      const half = (this.camera.top - this.camera.bottom) / 2;
      this.camera.left = -half * aspect;
      this.camera.right = half * aspect;
    }
    this.camera.updateProjectionMatrix();
    if (this.fitted) this.look(this.fitted);
    this.redraw();
  }

  get box(): THREE.Box3 {
    const b = new THREE.Box3();
    for (const v of this.views) b.union(v.box);
    return b;
  }

  /** What is looked at. */
  private get focus(): THREE.Box3 {
    const b = new THREE.Box3();
    for (const v of this.views) b.union(v.focus);
    return b;
  }

  /** Look from a side so that everything is visible, except for a few bodies that went far away. */
  look(from: StandardView): void {
    const box = this.focus, middle = box.getCenter(new THREE.Vector3()), size = box.getSize(new THREE.Vector3());
    const up = this.camera.up.clone();
    // two directions across `up`: the one nearest to x, and their cross product
    const right = Math.abs(up.x) < 0.9 ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 1, 0);
    right.addScaledVector(up, -right.dot(up)).normalize();
    const front = right.clone().cross(up).normalize(); // toward the viewer
    const ways: Record<StandardView, THREE.Vector3> = {
      home: front.clone().multiplyScalar(1).addScaledVector(right, 0.55).addScaledVector(up, 0.42),
      front: front.clone(), back: front.clone().negate(), right: right.clone(), left: right.clone().negate(),
      top: up.clone().addScaledVector(front, 1e-3), bottom: up.clone().negate().addScaledVector(front, 1e-3),
    };
    const way = this.flat ? new THREE.Vector3(0, 0, 1) : ways[from].normalize();
    this.controls.target.copy(middle);
    if (this.camera instanceof THREE.PerspectiveCamera) this.fit(this.camera, middle, size, way);
    else {
      const aspect = this.canvas.clientWidth / Math.max(1, this.views.length) / this.canvas.clientHeight;
      const half = 0.56 * Math.max(size.y, size.x / aspect, 1e-6);
      Object.assign(this.camera, { top: half, bottom: -half, left: -half * aspect, right: half * aspect, zoom: 1 });
      this.camera.position.copy(middle).add(new THREE.Vector3(0, 0, 10));
    }
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.followed = null;
    this.fitted = from;
    this.redraw();
  }

  // as near as the corners of the box allow
  private fit(camera: THREE.PerspectiveCamera, middle: THREE.Vector3, size: THREE.Vector3, way: THREE.Vector3): void {
    const side = way.clone().cross(camera.up).normalize(), above = side.clone().cross(way);
    const ty = Math.tan((camera.fov * Math.PI) / 360), tx = ty * camera.aspect;
    let distance = 0;
    for (let i = 0; i < 8; i++) {
      const c = new THREE.Vector3(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5).multiply(size);
      const depth = c.dot(way);
      distance = Math.max(distance, Math.abs(c.dot(side)) / tx + depth, Math.abs(c.dot(above)) / ty + depth);
    }
    camera.position.copy(middle).addScaledVector(way, 1.06 * Math.max(distance, 1e-6));
  }

  /** Turn, by angles, with the keyboard. */
  turn(across: number, along: number): void {
    if (this.flat) return;
    this.fitted = null;
    const arm = this.camera.position.clone().sub(this.controls.target), up = this.camera.up;
    arm.applyAxisAngle(up, across);
    const side = arm.clone().cross(up).normalize(), tilted = arm.clone().applyAxisAngle(side, along);
    if (Math.abs(tilted.clone().normalize().dot(up)) < 0.995) arm.copy(tilted);
    this.camera.position.copy(this.controls.target).add(arm);
    this.controls.update();
    this.redraw();
  }

  zoom(factor: number): void {
    this.fitted = null;
    if (this.camera instanceof THREE.PerspectiveCamera) {
      const arm = this.camera.position.clone().sub(this.controls.target).multiplyScalar(1 / factor);
      this.camera.position.copy(this.controls.target).add(arm);
    } else this.camera.zoom *= factor;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.redraw();
  }

  /** The ray under a point of the canvas, and which view it is in. */
  ray(x: number, y: number): { ray: THREE.Ray; view: number } {
    const n = Math.max(1, this.views.length), w = this.canvas.clientWidth / n;
    const view = Math.min(n - 1, Math.floor(x / w));
    const caster = new THREE.Raycaster();
    this.setNearFar();
    this.camera.updateMatrixWorld();
    caster.setFromCamera(new THREE.Vector2((2 * (x - view * w)) / w - 1, 1 - (2 * y) / this.canvas.clientHeight), this.camera);
    return { ray: caster.ray, view };
  }

  /** Where a point of the world is on the canvas, in the first view. */
  project(p: THREE.Vector3): { x: number; y: number } {
    this.setNearFar();
    this.camera.updateMatrixWorld();
    const c = p.clone().project(this.camera), w = this.canvas.clientWidth / Math.max(1, this.views.length);
    return { x: ((c.x + 1) / 2) * w, y: ((1 - c.y) / 2) * this.canvas.clientHeight };
  }

  private tick(): void {
    this.onDraw?.();
    this.followBody();
    const now = performance.now(), passed = now - this.ticked;
    this.ticked = now;
    if (this.dirty) {
      // slow scenes are drawn coarsely while moving, and finely once they stand still
      this.slow = passed > 90 && passed < 5000 ? this.slow + 1 : passed < 40 ? 0 : this.slow;
      if (this.slow >= 3 && !this.coarse && !this.steady) this.setCoarse(true);
      this.moved = now;
      this.draw();
    } else if (this.coarse && now - this.moved > 300) {
      this.setCoarse(false);
      this.slow = 0;
      this.draw();
    }
  }

  private setCoarse(on: boolean): void {
    this.coarse = on;
    this.resize();
  }

  private followBody(): void {
    const now = this.follow?.() ?? null;
    if (now && this.followed && !now.equals(this.followed)) {
      const step = now.clone().sub(this.followed);
      this.fitted = null;
      this.camera.position.add(step);
      this.controls.target.add(step);
      this.controls.update();
      this.redraw();
    }
    this.followed = now;
  }

  /** The direction of the camera from the centre of the scene. */
  get toward(): THREE.Vector3 { return this.camera.position.clone().sub(this.controls.target).normalize(); }

  private setDetail(): void {
    if (!(this.camera instanceof THREE.PerspectiveCamera)) return;
    const focal = this.target.height / 2 / Math.tan((this.camera.fov * Math.PI) / 360);
    const distance = this.box.distanceToPoint(this.camera.position);
    const eye = {
      view: this.camera.matrixWorldInverse.elements, projection: this.camera.projectionMatrix.elements, width: this.target.width, height: this.target.height,
      spacing: 1, near: this.camera.near, clip: null,
    };
    for (const v of this.views) {
      const pixels = (focal * v.typicalRadius) / Math.max(distance, 1e-9);
      v.setDetail(pixels, focal);
      // while it moves, what is seen through a gap of less than two pixels may be missing
      v.choose({ ...eye, spacing: this.coarse ? Math.min(Math.max(pixels / 3, 1), 2) : 1 }, this.toward, this.camera.position.distanceTo(this.controls.target), this.coarse);
    }
  }

  draw(): void {
    this.dirty = false;
    this.frames++;
    const r = this.renderer, n = this.views.length;
    this.setNearFar();
    this.camera.updateMatrixWorld();
    this.setDetail();
    this.scenes.forEach((scene, i) => {
      const u = this.views[i].style.uniforms;
      u['uViewInverse'].value.copy(this.camera.matrixWorld);
      u['uProjection'].value.copy(this.camera.projectionMatrix);
      r.setRenderTarget(this.target);
      r.setClearColor(this.background, 1);
      r.clear();
      r.render(scene, this.camera);
      r.setRenderTarget(null);
      const w = this.canvas.clientWidth / n;
      r.setViewport(i * w, 0, w, this.canvas.clientHeight);
      this.setShade(i);
      r.render(this.screen, this.screenCamera);
    });
  }

  private setNearFar(): void {
    if (!(this.camera instanceof THREE.PerspectiveCamera) || this.views.length === 0) return;
    const sphere = this.box.getBoundingSphere(new THREE.Sphere());
    const d = this.camera.position.distanceTo(sphere.center), reach = 2.5 * sphere.radius;
    this.camera.far = d + reach;
    this.camera.near = Math.max(this.camera.far / 3000, d - reach);
    this.camera.updateProjectionMatrix();
  }

  private setShade(i: number): void {
    const u = this.shade.uniforms, c = this.camera;
    u['uColour'].value = this.target.texture;
    u['uDepth'].value = this.target.depthTexture;
    u['uPixel'].value.set(1 / this.target.width, 1 / this.target.height);
    u['uNearFar'].value.set(c.near, c.far);
    u['uReach'].value = 1.1 * this.views[i].typicalRadius;
    u['uStrength'].value = this.shading && !this.flat && !this.coarse ? 0.65 : 0;
    if (c instanceof THREE.PerspectiveCamera) u['uFocal'].value = this.target.height / 2 / Math.tan((c.fov * Math.PI) / 360);
  }

  /** The present picture. */
  picture(): Promise<Blob> {
    if (this.coarse) this.setCoarse(false);
    this.draw();
    return new Promise((done, fail) => this.canvas.toBlob((b) => (b ? done(b) : fail(new Error('no picture'))), 'image/png'));
  }
}

function isSoftware(gl: WebGLRenderingContext | WebGL2RenderingContext): boolean {
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  return /swiftshader|llvmpipe|software/i.test(String(info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : ''));
}
