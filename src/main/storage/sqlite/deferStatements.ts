import type { Statement as CompiledStatement } from 'better-sqlite3'
import type { Database } from './openDatabase.ts'

type Statement = CompiledStatement<unknown[]>

/**
 * Makes `prepare` return statements that SQLite compiles at their first use. Repositories prepare all of their
 * statements when they are created, some 400, and a session uses a part of them. An error in the text of a statement is
 * thrown at its first use.
 */
export function deferStatements(database: Database): Database {
  const compile: (text: string) => Statement = database.prepare.bind(database)
  const prepare = (text: string) => new DeferredStatement(() => compile(text))
  database.prepare = prepare as unknown as Database['prepare'] // the members of Statement that this project uses
  return database
}

class DeferredStatement implements Pick<Statement, 'run' | 'get' | 'all' | 'iterate' | 'pluck'> {
  readonly #compile: () => Statement
  #statement: Statement | undefined

  constructor(compile: () => Statement) {
    this.#compile = compile
  }

  run(...parameters: unknown[]) {
    return this.#compiled().run(...parameters)
  }

  get(...parameters: unknown[]) {
    return this.#compiled().get(...parameters)
  }

  all(...parameters: unknown[]) {
    return this.#compiled().all(...parameters)
  }

  iterate(...parameters: unknown[]) {
    return this.#compiled().iterate(...parameters)
  }

  pluck() {
    return this.#compiled().pluck()
  }

  #compiled(): Statement {
    this.#statement ??= this.#compile()
    return this.#statement
  }
}
