import type { IParser } from '@xterm/xterm'
import { createObservable, type Observable } from './observable.ts'

/** Tracks the working directory reported by the shell with OSC 7 (`file://host/path`). */
export function watchWorkingDirectory(parser: IParser): Observable<string | undefined> {
  const directory = createObservable<string | undefined>(undefined)
  parser.registerOscHandler(7, (data) => {
    const path = parseDirectory(data)
    if (path !== undefined) directory.set(path)
    return true
  })
  return directory
}

export function parseDirectory(data: string): string | undefined {
  const [, path] = /^file:\/\/[^/]*(\/.*)$/.exec(data) ?? []
  if (path === undefined) return undefined
  try {
    return decodeURIComponent(path)
  } catch {
    return path // not percent-encoded
  }
}
