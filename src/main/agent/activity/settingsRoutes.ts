import { changeActivitySettings, getActivitySettings } from '#shared/contract/activitySettings.ts'
import { type LocalEndpoint, localEndpoint } from '../base/localEndpoint.ts'
import type { ActivitySettingsStore } from './activitySettings.ts'

export function createSettingsRoutes(settings: ActivitySettingsStore): LocalEndpoint[] {
  return [
    localEndpoint(getActivitySettings, () => settings.read()),
    localEndpoint(changeActivitySettings, ({ body }) => settings.change(body)),
  ]
}
