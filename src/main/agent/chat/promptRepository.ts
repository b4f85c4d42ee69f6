import type { Prompt } from '#shared/contract/chatLibrary.ts'
import type { PromptId } from '#shared/contract/chats.ts'
import { promptVariables } from '#shared/promptText.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const promptTable = defineTable('chat_prompts', {
  id: text<PromptId>(),
  title: text(),
  text: text(),
  updatedAtMs: number(),
})
type PromptRow = RowOf<typeof promptTable>

export type PromptRepository = {
  /** Lists the prompts by title. */
  list(): Prompt[]
  save(prompt: Omit<PromptRow, 'id'> & { id: string }): void
  remove(id: string): boolean
}

export function createPromptRepository(database: Database): PromptRepository {
  const prompts = database.prepare<[], StoredRow>(
    `SELECT ${promptTable.selection()} FROM chat_prompts ORDER BY title COLLATE NOCASE, id`,
  )
  const save = database.prepare<[Params<keyof PromptRow>]>(promptTable.upsert(['id']))
  const remove = database.prepare<[Params<'id'>]>('DELETE FROM chat_prompts WHERE id = @id')

  return {
    list: () => prompts.all().map((row) => toWire(promptTable.fromRow(row))),
    save: (prompt) => void save.run(prompt),
    remove: (id) => remove.run({ id }).changes === 1,
  }
}

function toWire({ updatedAtMs, ...prompt }: PromptRow): Prompt {
  return { ...prompt, variables: promptVariables(prompt.text), updated_at: toIsoTime(updatedAtMs) }
}
