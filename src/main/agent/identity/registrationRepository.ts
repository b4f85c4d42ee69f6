import type { z } from 'zod'
import { AutomatonRegistration, registerAutomaton } from '#shared/contract/automatons.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, json, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

/** Signed body. Retries send the same values. */
export type SignedRequest = z.output<typeof registerAutomaton.body>
export type StoredRegistration = { registration: AutomatonRegistration; request: SignedRequest | undefined }

const registrations = defineTable('registrations', {
  id: text(),
  intentId: text(),
  state: text<AutomatonRegistration['state']>(),
  registration: json(AutomatonRegistration.parse),
  request: nullable(json<SignedRequest>(registerAutomaton.body.parse)),
  createdAtMs: number(),
})

/** Rows that cannot be parsed are skipped and never sent. */
export type RegistrationRepository = {
  add(registration: AutomatonRegistration): void
  find(id: string): StoredRegistration | undefined
  ofIntent(intentId: string): AutomatonRegistration | undefined
  /** @param request unchanged if omitted */
  change(registration: AutomatonRegistration, request?: SignedRequest): void
  /** Lists registrations in this state, oldest first. */
  inState(state: AutomatonRegistration['state']): AutomatonRegistration[]
  /** Lists registrations, newest first. */
  list(limit: number): AutomatonRegistration[]
}

export function createRegistrationRepository(database: Database): RegistrationRepository {
  const selection = `SELECT ${registrations.selection()} FROM registrations`
  const add = database.prepare<[Params<keyof RowOf<typeof registrations>>]>(registrations.insert)
  const find = database.prepare<[Params<'id'>], StoredRow>(`${selection} WHERE id = @id`)
  const ofIntent = database.prepare<[Params<'intentId'>], StoredRow>(`${selection} WHERE intent_id = @intentId`)
  const change = database.prepare<[Params<'id' | 'state' | 'registration' | 'request'>]>(
    `UPDATE registrations SET ${registrations.assignments(['state', 'registration'])},
       request = coalesce(@request, request) WHERE id = @id`,
  )
  const inState = database.prepare<[Params<'state'>], StoredRow>(
    `${selection} WHERE state = @state ORDER BY created_at_ms, rowid`,
  )
  const list = database.prepare<[Params<'limit'>], StoredRow>(
    `${selection} ORDER BY created_at_ms DESC, rowid DESC LIMIT @limit`,
  )
  const parseRows = (rows: readonly StoredRow[]): AutomatonRegistration[] =>
    rows.flatMap((row) => registrations.tryFromRow(row)?.registration ?? [])

  return {
    add(registration) {
      const { id, intent_id: intentId, state, created_at } = registration
      const createdAtMs = Date.parse(created_at)
      add.run(registrations.params({ id, intentId, state, registration, request: null, createdAtMs }))
    },
    find(id) {
      const row = registrations.tryFromRow(find.get({ id }))
      return row && { registration: row.registration, request: row.request ?? undefined }
    },
    ofIntent: (intentId) => registrations.tryFromRow(ofIntent.get({ intentId }))?.registration,
    change(registration, request) {
      const { id, state } = registration
      change.run(registrations.params({ id, state, registration, request: request ?? null }))
    },
    inState: (state) => parseRows(inState.all({ state })),
    list: (limit) => parseRows(list.all({ limit })),
  }
}
