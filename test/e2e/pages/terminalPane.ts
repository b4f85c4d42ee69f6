import type { Locator, Page } from 'playwright-core'
import { until } from '../../support/eventually.ts'

const deadlineMs = 60_000

/** The terminal in view, as a person sees and uses it. */
export type TerminalPane = {
  id(): Promise<string | null>
  /** Rows of the screen, without trailing blanks. */
  rows(): Promise<string[]>
  /** Waits until a part of the screen reads like this. */
  sees(text: string | RegExp): Promise<void>
  type(text: string): Promise<void>
  /** Types a line and Enter. */
  run(line: string): Promise<void>
  press(key: string): Promise<void>
  /** Waits until it is connected to its program. */
  isLive(): Promise<void>
}

export function terminalPane(page: Page): TerminalPane {
  const pane = page.locator('[data-terminal]:visible').first()
  const rows = () => rowsOf(pane)
  const focus = () => pane.locator('.xterm-helper-textarea').focus()
  return {
    id: () => pane.getAttribute('data-terminal'),
    rows,
    async sees(text) {
      const matches = (screen: string) => (typeof text === 'string' ? screen.includes(text) : text.test(screen))
      await until(`the terminal shows ${text}`, async () => matches((await rows()).join('\n')), deadlineMs).catch(
        async (failure: Error) => {
          const shown = (await rows().catch(() => ['(no terminal in view)'])).join('\n')
          throw new Error(`${failure.message}\nIt showed:\n${shown}`, { cause: failure })
        },
      )
    },
    async type(text) {
      await focus()
      await page.keyboard.type(text)
    },
    async run(line) {
      await focus()
      await page.keyboard.type(line)
      await page.keyboard.press('Enter')
    },
    async press(key) {
      await focus()
      await page.keyboard.press(key)
    },
    isLive: () => page.locator('[data-terminal][data-phase="live"]:visible').first().waitFor({ timeout: deadlineMs }),
  }
}

/** The renderer for the DOM writes each row as an element of spans; a blank cell is a no-break space. */
async function rowsOf(pane: Locator): Promise<string[]> {
  const texts = await pane.locator('.xterm-rows > div').allTextContents()
  return texts.map((text) => text.replaceAll('\u00a0', ' ').trimEnd())
}
