/** Draws `resources/icon.png` after `resources/icon.svg`, whose few shapes it knows: `node scripts/iconImage.ts`. */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'

type Point = readonly [x: number, y: number]
type Color = readonly [red: number, green: number, blue: number]

const pixels = 512
/** Of the picture's own units, as its `viewBox` says. */
const units = 32
const scale = pixels / units

const tile = { size: 32, radius: 8, color: [0x35, 0x57, 0xcf] as Color }
const strokes: readonly { points: readonly Point[]; width: number; color: Color }[] = [
  {
    points: [
      [9, 10.5],
      [14.5, 16],
      [9, 21.5],
    ],
    width: 3,
    color: [255, 255, 255],
  },
  {
    points: [
      [17.5, 21.5],
      [23, 21.5],
    ],
    width: 3,
    color: [0xb9, 0xc8, 0xff],
  },
]

/** Distances in units; one pixel at an edge is as opaque as it is covered. */
const coverage = (distance: number): number => Math.min(1, Math.max(0, 0.5 - distance * scale))

function toTile([x, y]: Point): number {
  const half = tile.size / 2
  const across = Math.abs(x - half) - (half - tile.radius)
  const down = Math.abs(y - half) - (half - tile.radius)
  return Math.hypot(Math.max(across, 0), Math.max(down, 0)) + Math.min(Math.max(across, down), 0) - tile.radius
}

function toSegment([x, y]: Point, [ax, ay]: Point, [bx, by]: Point): number {
  const along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)
  const at = Math.min(1, Math.max(0, along))
  return Math.hypot(x - ax - at * (bx - ax), y - ay - at * (by - ay))
}

function pixelAt(point: Point): number[] {
  let color: readonly number[] = tile.color
  for (const { points, width, color: ink } of strokes) {
    const distances = points.slice(1).map((end, at) => toSegment(point, points[at] ?? end, end))
    const opacity = coverage(Math.min(...distances) - width / 2)
    color = color.map((below, at) => below + ((ink[at] ?? 0) - below) * opacity)
  }
  return [...color.map(Math.round), Math.round(255 * coverage(toTile(point)))]
}

/** @see https://www.w3.org/TR/png-3/ */
function png(rows: readonly (readonly number[])[]): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(pixels, 0)
  header.writeUInt32BE(pixels, 4)
  header.set([8, 6], 8) // 8 bits a channel, RGBA
  const data = Buffer.concat(rows.map((row) => Buffer.from([0, ...row])))
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(data, { level: 9 })), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([signature, ...parts])
}

function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), content])
  const length = Buffer.alloc(4)
  const check = Buffer.alloc(4)
  length.writeUInt32BE(content.length)
  check.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, check])
}

const steps = Array.from({ length: pixels }, (_, at) => (at + 0.5) / scale)
const image = png(steps.map((y) => steps.flatMap((x) => pixelAt([x, y]))))
writeFileSync(resolve(import.meta.dirname, '..', 'resources', 'icon.png'), image)
