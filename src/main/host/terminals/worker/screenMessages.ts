import type { TerminalColors } from '#shared/contract/terminalColors.ts'
import type { CarriedMark } from '#shared/terminalMarks.ts'
import type { ScreenQuery, ScreenReply } from '../emulator/screenQuery.ts'

/** Messages between the host's main thread and the workers that hold the screens. */
export type ToScreens =
  | { type: 'open'; screen: number; cols: number; rows: number; marksKey: string | undefined }
  /** `replay` marks old output. The emulator's replies to it are dropped. */
  | { type: 'output'; screen: number; bytes: Uint8Array; replay: boolean }
  | { type: 'resize'; screen: number; cols: number; rows: number }
  | { type: 'marks'; screen: number; marks: readonly CarriedMark[] }
  | { type: 'colors'; screen: number; colors: TerminalColors }
  | { type: 'query'; screen: number; id: number; query: ScreenQuery }
  | { type: 'close'; screen: number }

export type FromScreens =
  | { type: 'parsed'; screen: number; bytes: number }
  | { type: 'answer'; screen: number; data: string }
  | { type: 'title'; screen: number; title: string }
  | { type: 'bell'; screen: number }
  /** Notification that a program sends to the user, possibly without text. */
  | { type: 'notice'; screen: number; text: string }
  /** The emulator failed and accepts no further messages. */
  | { type: 'broken'; screen: number; reason: string }
  | { type: 'reply'; id: number; reply: ScreenReply }
  | { type: 'failed'; id: number; reason: string }
