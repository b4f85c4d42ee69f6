import type { Locator, Page } from 'playwright-core'
import { until } from '../../support/assertions/eventually.ts'

const deadlineMs = 60_000
const rowHeightPx = 20
/** Time for links that are resolved in the sandbox. */
const hintMs = 2_000

/** Page object for the visible terminal. */
export type TerminalPane = {
  id(): Promise<string | null>
  /** Rows of the screen, without trailing blanks. */
  rows(): Promise<string[]>
  /** Waits until part of the screen matches this text. */
  sees(text: string | RegExp): Promise<void>
  type(text: string): Promise<void>
  run(line: string): Promise<void>
  press(key: string): Promise<void>
  /** Hovers over the last match on the screen. */
  hover(text: string): Promise<void>
  openLink(text: string): Promise<void>
  /** Waits until the terminal is connected to its program. */
  isLive(): Promise<void>
}

export function terminalPane(page: Page): TerminalPane {
  const pane = page.locator('[data-terminal]:visible').first()
  const rows = () => readRows(pane)
  const focus = () => pane.locator('.xterm-helper-textarea').focus()
  const hover = async (text: string): Promise<void> => {
    const { x, y } = await pane.locator('.xterm-rows > div', { hasText: text }).last().evaluate(findMiddle, text)
    // xterm.js searches for links when the pointer enters a row, and not when the text of the row changes under the
    // pointer.
    await page.mouse.move(x, y + 2 * rowHeightPx)
    await page.mouse.move(x, y)
  }
  return {
    id: () => pane.getAttribute('data-terminal'),
    rows,
    async sees(text) {
      const matches = (screen: string) => (typeof text === 'string' ? screen.includes(text) : text.test(screen))
      await until(`the terminal shows ${text}`, async () => matches((await rows()).join('\n')), deadlineMs).catch(
        async (error: Error) => {
          const screenText = (await rows().catch(() => ['(no terminal in view)'])).join('\n')
          throw new Error(`${error.message}\nIt showed:\n${screenText}`, { cause: error })
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
    hover,
    async openLink(text) {
      const hint = page.getByRole('tooltip').getByText('Ctrl+click to open')
      await until(`a link at ${text}`, async () => {
        await hover(text)
        return hint.waitFor({ timeout: hintMs }).then(
          () => true,
          () => false,
        )
      })
      await page.keyboard.down('Control')
      await page.mouse.down()
      await page.mouse.up()
      await page.keyboard.up('Control')
    },
    isLive: () => page.locator('[data-terminal][data-phase="live"]:visible').first().waitFor({ timeout: deadlineMs }),
  }
}

/** Runs in the page. Returns the middle of the last match in an element, which may span several of its text nodes. */
function findMiddle(row: Element, text: string): { x: number; y: number } {
  const parts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT)
  const positions: [Node, number][] = []
  while (parts.nextNode()) {
    const { currentNode } = parts
    for (let offset = 0; offset < (currentNode.nodeValue ?? '').length; offset++) positions.push([currentNode, offset])
  }
  const middle = (row.textContent ?? '').replaceAll('\u00a0', ' ').lastIndexOf(text) + Math.floor(text.length / 2)
  const [node, offset] = positions[middle] ?? [row, 0]
  const range = document.createRange()
  range.setStart(node, offset)
  range.setEnd(node, offset + 1)
  const { x, y, width, height } = range.getBoundingClientRect()
  return { x: x + width / 2, y: y + height / 2 }
}

/** The DOM renderer writes each row as an element of spans, with no-break spaces for blank cells. */
async function readRows(pane: Locator): Promise<string[]> {
  const texts = await pane.locator('.xterm-rows > div').allTextContents()
  return texts.map((text) => text.replaceAll('\u00a0', ' ').trimEnd())
}
