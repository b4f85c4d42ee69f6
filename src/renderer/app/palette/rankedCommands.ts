import type { Command } from '../../ui/commands/commandRegistry.tsx'

export type Rankable = Pick<Command, 'id' | 'title' | 'section' | 'keywords'>

/**
 * What fits a query, best first: its very title, a title that begins with it, one whose words begin with its words in
 * this order, then in any order, and last with those of its section and keywords. Among equals, what was chosen last
 * comes first, and else the order stays. Without a query all of them, those chosen last first.
 */
export function rankedCommands<Item extends Rankable>(
  items: readonly Item[],
  query: string,
  recentIds: readonly string[],
): Item[] {
  const words = wordsOf(query)
  const recency = new Map(recentIds.map((id, place) => [id, place]))
  return items
    .flatMap((item, place) => {
      const rank = words.length === 0 ? 0 : rankOf(item, words)
      return rank === undefined ? [] : { item, rank, recent: recency.get(item.id) ?? recentIds.length, place }
    })
    .sort((a, b) => a.rank - b.rank || a.recent - b.recent || a.place - b.place)
    .map(({ item }) => item)
}

/** Lower is better; undefined does not fit. */
function rankOf({ title, section, keywords = [] }: Rankable, query: readonly string[]): number | undefined {
  const words = wordsOf(title)
  const [written, wanted] = [words.join(' '), query.join(' ')]
  if (written === wanted) return 0
  if (written.startsWith(wanted)) return 1
  if (beginInOrder(words, query)) return 2
  if (allBegin(words, query)) return 3
  return allBegin([...words, ...wordsOf(section), ...keywords.flatMap(wordsOf)], query) ? 4 : undefined
}

function beginInOrder(words: readonly string[], query: readonly string[]): boolean {
  let next = 0
  for (const word of words) if (word.startsWith(query[next] ?? '\0')) next += 1
  return next === query.length
}

function allBegin(words: readonly string[], query: readonly string[]): boolean {
  return query.every((wanted) => words.some((word) => word.startsWith(wanted)))
}

/** Signs part words and are none: `Delete build-box…` has three. */
function wordsOf(text: string): string[] {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}
