import type { Prompt } from '#shared/contract/chatLibrary.ts'

/** Sorts matches in titles before matches in texts. */
export function findPrompts(prompts: readonly Prompt[], query: string): Prompt[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const byTitle = prompts.filter(({ title }) => has(title))
  return [...byTitle, ...prompts.filter((prompt) => !byTitle.includes(prompt) && has(prompt.text))]
}
