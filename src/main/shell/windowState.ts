import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { type BrowserWindow, type Rectangle, screen } from 'electron'
import { z } from 'zod'
import { parseJson } from '#platform/parsing/boundedJson.ts'

const WindowState = z.object({
  bounds: z.object({ x: z.int(), y: z.int(), width: z.int().min(1), height: z.int().min(1) }),
  maximized: z.boolean(),
})
export type WindowState = { bounds: Partial<Rectangle> & { width: number; height: number }; maximized: boolean }

const initial: WindowState = { bounds: { width: 1280, height: 820 }, maximized: false }

/** Reads the last position and size. Returns the initial ones if no display contains the position. */
export function restoreWindowState(file: string): WindowState {
  const saved = readState(file)
  if (!saved) return initial
  const visible = screen.getAllDisplays().some(({ workArea }) => isOverlapping(workArea, saved.bounds))
  if (visible) return saved
  const { width, height } = saved.bounds
  return { bounds: { width, height }, maximized: saved.maximized }
}

/** Saves the position of the window when it closes: the last one at which it was neither maximized nor full screen. */
export function saveWindowState(window: BrowserWindow, file: string): void {
  window.on('close', () => {
    const state = { bounds: window.getNormalBounds(), maximized: window.isMaximized() }
    try {
      writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 })
      renameSync(`${file}.new`, file)
    } catch {
      // A failed write must not prevent the window from closing.
    }
  })
}

function readState(file: string): z.infer<typeof WindowState> | undefined {
  try {
    return WindowState.parse(parseJson(readFileSync(file, 'utf8')))
  } catch {
    return undefined // never written, or written by another version
  }
}

/** Whether enough of the title bar is visible to drag the window. */
function isOverlapping(area: Rectangle, { x, y, width }: Rectangle): boolean {
  const grip = 80
  return (
    Math.min(x + width, area.x + area.width) - Math.max(x, area.x) >= grip &&
    y >= area.y &&
    y + grip <= area.y + area.height
  )
}
