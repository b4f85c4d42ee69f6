import type { z } from 'zod'
import { Registration, registerAutomaton } from '../../../shared/contract/automatons.ts'
import type { Database } from '../../storage/openDatabase.ts'

/** The body that was signed: what is sent, and sent again, is these very values. */
export type SignedRequest = z.output<typeof registerAutomaton.body>
export type StoredRegistration = { registration: Registration; request: SignedRequest | undefined }

export type RegistrationRepository = {
  add(registration: Registration): void
  find(id: string): StoredRegistration | undefined
  ofIntent(intentId: string): Registration | undefined
  /** The request stays as it is where none is given. */
  change(registration: Registration, request?: SignedRequest): void
  inState(state: Registration['state']): Registration[]
  /** Newest first. */
  list(limit: number): Registration[]
}

type Row = { registration: string; request: string | null }

export function registrationRepository(database: Database): RegistrationRepository {
  const add = database.prepare<[string, string, string, string, number]>(
    'INSERT INTO registrations (id, intent_id, state, registration, created_at_ms) VALUES (?, ?, ?, ?, ?)',
  )
  const find = database.prepare<[string], Row>('SELECT registration, request FROM registrations WHERE id = ?')
  const ofIntent = database.prepare<[string], Row>(
    'SELECT registration, request FROM registrations WHERE intent_id = ?',
  )
  const change = database.prepare<[string, string, string | null, string]>(
    'UPDATE registrations SET state = ?, registration = ?, request = coalesce(?, request) WHERE id = ?',
  )
  const inState = database.prepare<[string], Row>(
    'SELECT registration, request FROM registrations WHERE state = ? ORDER BY created_at_ms, rowid',
  )
  const list = database.prepare<[number], Row>(
    'SELECT registration, request FROM registrations ORDER BY created_at_ms DESC, rowid DESC LIMIT ?',
  )
  const registrations = (rows: readonly Row[]) => rows.flatMap(understood).map(({ registration }) => registration)

  return {
    add(registration) {
      const { id, intent_id, state, created_at } = registration
      add.run(id, intent_id, state, JSON.stringify(registration), Date.parse(created_at))
    },
    find(id) {
      const row = find.get(id)
      return row && understood(row)[0]
    },
    ofIntent(intentId) {
      const row = ofIntent.get(intentId)
      return row && understood(row)[0]?.registration
    },
    change(registration, request) {
      const { id, state } = registration
      change.run(state, JSON.stringify(registration), request ? JSON.stringify(request) : null, id)
    },
    inState: (state) => registrations(inState.all(state)),
    list: (limit) => registrations(list.all(limit)),
  }
}

/** A damaged row is shown to nobody, and never sent. */
function understood({ registration, request }: Row): StoredRegistration[] {
  try {
    return [
      {
        registration: Registration.parse(JSON.parse(registration)),
        request: request === null ? undefined : registerAutomaton.body.parse(JSON.parse(request)),
      },
    ]
  } catch {
    return []
  }
}
