import type { Command } from '../../ui/commands/commandRegistry.tsx'

export type Rankable = Pick<Command, 'id' | 'title' | 'section' | 'keywords'>

/**
 * Ranks commands for a query, best first: exact titles, title prefixes, titles whose words start with the query's words
 * in order, then in any order, and finally matches in section and keywords. Ties are ordered by recent use, otherwise
 * stable. An empty query returns all commands, recent ones first.
 */
export function rankCommands<Item extends Rankable>(
  items: readonly Item[],
  query: string,
  recentIds: readonly string[],
): Item[] {
  const words = splitTerms(query)
  const recency = new Map(recentIds.map((id, place) => [id, place]))
  return items
    .flatMap((item, place) => {
      const rank = words.length === 0 ? 0 : computeRank(item, words)
      return rank === undefined ? [] : { item, rank, recent: recency.get(item.id) ?? recentIds.length, place }
    })
    .sort((a, b) => a.rank - b.rank || a.recent - b.recent || a.place - b.place)
    .map(({ item }) => item)
}

/** Returns the rank of a command; lower is better. @returns undefined if the command does not match */
function computeRank({ title, section, keywords = [] }: Rankable, query: readonly string[]): number | undefined {
  const words = splitTerms(title)
  const [joinedTerms, joinedQuery] = [words.join(' '), query.join(' ')]
  if (joinedTerms === joinedQuery) return 0
  if (joinedTerms.startsWith(joinedQuery)) return 1
  if (beginInOrder(words, query)) return 2
  if (matchesWordStarts(words, query)) return 3
  return matchesWordStarts([...words, ...splitTerms(section), ...keywords.flatMap(splitTerms)], query) ? 4 : undefined
}

function beginInOrder(words: readonly string[], query: readonly string[]): boolean {
  let next = 0
  for (const word of words) if (word.startsWith(query[next] ?? '\0')) next += 1
  return next === query.length
}

function matchesWordStarts(words: readonly string[], query: readonly string[]): boolean {
  return query.every((prefix) => words.some((word) => word.startsWith(prefix)))
}

/** Splits at punctuation: `Delete build-box…` has three terms. */
function splitTerms(text: string): string[] {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}
