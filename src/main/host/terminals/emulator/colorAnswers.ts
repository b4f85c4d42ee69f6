import type { Terminal } from '@xterm/headless'
import { defaultColors, type TerminalColors } from '#shared/contract/terminalColors.ts'

/**
 * Answers color queries of programs in the host instead of the viewers, so that each query gets one reply, in order.
 * Uses the colors of the most recent viewer, or defaults.
 */
export function createColorAnswers(
  parser: Pick<Terminal['parser'], 'registerOscHandler'>,
  answer: (data: string) => void,
): { use(colors: TerminalColors): void } {
  let colors = defaultColors

  const tell = (code: string, color: string | undefined): void => {
    if (color !== undefined) answer(`\x1b]${code};${formatXColor(color)}\x1b\\`)
  }

  // Parses queries such as `10;?;?`, which request color 10 and the next one.
  const special = (first: number) => (data: string) => {
    const values = [colors.foreground, colors.background, colors.cursor]
    data.split(';').forEach((part, index) => {
      if (part === '?') tell(String(first + index), values[first - 10 + index])
    })
    return true
  }

  for (const code of [10, 11, 12]) parser.registerOscHandler(code, special(code))
  parser.registerOscHandler(4, (data) => {
    const parts = data.split(';')
    for (let index = 0; index + 1 < parts.length; index += 2) {
      const colorIndex = Number(parts[index])
      if (parts[index + 1] === '?') tell(`4;${colorIndex}`, colors.palette[colorIndex] ?? getFixedColor(colorIndex))
    }
    return true
  })
  return {
    use(next) {
      colors = next
    },
  }
}

/** Formats `#rrggbb` for programs, with four digits per component. */
function formatXColor(color: string): string {
  const [red = '', green = '', blue = ''] = [1, 3, 5].map((index) => color.slice(index, index + 2).toLowerCase())
  return `rgb:${red}${red}/${green}${green}/${blue}${blue}`
}

/** Returns one of the colors 16 to 255, which are the same in every theme: a cube of six levels and a ramp of grays. */
function getFixedColor(index: number): string | undefined {
  if (!Number.isInteger(index) || index < 16 || index > 255) return undefined
  const grey = 8 + (index - 232) * 10
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40)
  const cube = index - 16
  const parts =
    index >= 232 ? [grey, grey, grey] : [level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)]
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}
