/**
 * Draws `resources/icon.png`, `.icns` and `.ico` from `resources/icon.svg`: `node scripts/iconImage.ts`. Supports only
 * the few shapes that this file uses.
 */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'

type Point = readonly [x: number, y: number]
type Color = readonly [red: number, green: number, blue: number]

/** Side length of the square `viewBox`. */
const units = 32

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

/** Opacity of a pixel at a signed distance from an edge, in units. */
const coverage = (distance: number, scale: number): number => Math.min(1, Math.max(0, 0.5 - distance * scale))

function toTile([x, y]: Point): number {
  const half = tile.size / 2
  const across = Math.abs(x - half) - (half - tile.radius)
  const down = Math.abs(y - half) - (half - tile.radius)
  return Math.hypot(Math.max(across, 0), Math.max(down, 0)) + Math.min(Math.max(across, down), 0) - tile.radius
}

function toSegment([x, y]: Point, [ax, ay]: Point, [bx, by]: Point): number {
  const along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)
  const ratio = Math.min(1, Math.max(0, along))
  return Math.hypot(x - ax - ratio * (bx - ax), y - ay - ratio * (by - ay))
}

function pixelAt(point: Point, scale: number): number[] {
  let color: readonly number[] = tile.color
  for (const { points, width, color: ink } of strokes) {
    const distances = points.slice(1).map((end, index) => toSegment(point, points[index] ?? end, end))
    const opacity = coverage(Math.min(...distances) - width / 2, scale)
    color = color.map((below, index) => below + ((ink[index] ?? 0) - below) * opacity)
  }
  return [...color.map(Math.round), Math.round(255 * coverage(toTile(point), scale))]
}

/** @see https://www.w3.org/TR/png-3/ */
function png(pixels: number): Buffer {
  const scale = pixels / units
  const steps = Array.from({ length: pixels }, (_, index) => (index + 0.5) / scale)
  const rows = steps.map((y) => steps.flatMap((x) => pixelAt([x, y], scale)))
  const header = Buffer.alloc(13)
  header.writeUInt32BE(pixels, 0)
  header.writeUInt32BE(pixels, 4)
  header.set([8, 6], 8) // 8 bits per channel, RGBA
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

/**
 * Encodes the images for macOS as PNGs, each with the type code of its size.
 * @see https://en.wikipedia.org/wiki/Apple_Icon_Image_format
 */
function icns(): Buffer {
  const parts = [
    ['ic07', 128],
    ['ic08', 256],
    ['ic09', 512],
    ['ic10', 1024],
  ] as const
  const entries = parts.map(([name, pixels]) => createEntry(name, png(pixels)))
  return createEntry('icns', Buffer.concat(entries))
}

function createEntry(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8, name, 'latin1')
  head.writeUInt32BE(content.length + head.length, 4)
  return Buffer.concat([head, content])
}

/**
 * Encodes the images for Windows as a directory of PNGs.
 * @see https://learn.microsoft.com/en-us/previous-versions/ms997538(v=msdn.10)
 */
function ico(): Buffer {
  const images = [16, 32, 48, 64, 128, 256].map((pixels) => ({ pixels, image: png(pixels) }))
  const head = Buffer.alloc(6)
  head.writeUInt16LE(1, 2)
  head.writeUInt16LE(images.length, 4)
  let offset = head.length + 16 * images.length
  const directory = images.map(({ pixels, image }) => {
    const entry = Buffer.alloc(16)
    entry.set([pixels % 256, pixels % 256], 0) // 0 means 256
    entry.writeUInt16LE(1, 4)
    entry.writeUInt16LE(32, 6)
    entry.writeUInt32LE(image.length, 8)
    entry.writeUInt32LE(offset, 12)
    offset += image.length
    return entry
  })
  return Buffer.concat([head, ...directory, ...images.map(({ image }) => image)])
}

const folder = resolve(import.meta.dirname, '..', 'resources')
writeFileSync(resolve(folder, 'icon.png'), png(512))
writeFileSync(resolve(folder, 'icon.icns'), icns())
writeFileSync(resolve(folder, 'icon.ico'), ico())
