import { AppError } from '#shared/appError.ts'
import type { RuntimeReport } from '#shared/contract/sandboxes.ts'
import { chooseRuntime } from '../base/runtimeChoice.ts'
import type { HostCall } from './hostCalls.ts'

export type RuntimeReports = {
  /** Lists runtimes in the configured order, as currently probed by the host. */
  list(): Promise<RuntimeReport[]>
  /** @throws AppError `runtime/unknown`, `runtime/unavailable` */
  choose(requested: string | undefined): Promise<RuntimeReport>
  /** Drops the reports of the previous host after another one has connected. */
  forget(): void
}

export function createRuntimeReports(options: { call: HostCall; order: readonly string[] }): RuntimeReports {
  const { call, order } = options
  let last: RuntimeReport[] | undefined

  const list = async (): Promise<RuntimeReport[]> => {
    const { result } = await call('describe', {})
    const rank = ({ name }: RuntimeReport) => (order.includes(name) ? order.indexOf(name) : order.length)
    last = result.runtimes.toSorted((a, b) => rank(a) - rank(b))
    return last
  }

  return {
    list,
    async choose(requested) {
      if (last) {
        try {
          return chooseRuntime({ requested, order, reports: last })
        } catch (error) {
          // Probes the runtimes again below, because missing programs may have been installed.
          if (!(error instanceof AppError)) throw error
        }
      }
      return chooseRuntime({ requested, order, reports: await list() })
    },
    forget() {
      last = undefined
    },
  }
}
