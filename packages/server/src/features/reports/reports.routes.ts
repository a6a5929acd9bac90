import { reports as contract } from '@stockade/contract'
import type { Http } from '../../http/http.ts'
import type { ReportsService } from './reports.service.ts'
import type { SchedulesService } from './schedules.service.ts'

export const mountReports = (http: Http, reports: ReportsService, schedules: SchedulesService): void => {
  http.serve(contract.getReport, ({ actor, query }) => reports.read(actor, query))
  http.serve(contract.listReportSchedules, ({ actor }) => schedules.list(actor))
  http.serve(contract.createReportSchedule, ({ actor, body }) => schedules.create(actor, body))
  http.serve(contract.updateReportSchedule, ({ actor, params, body }) => schedules.change(actor, params.id, body))
  http.serve(contract.deleteReportSchedule, async ({ actor, params }) => ({
    message: `The schedule ${await schedules.remove(actor, params.id)} was deleted.`,
  }))
  http.serve(contract.testReportSchedule, async ({ params }) => ({
    message: `The report of ${await schedules.test(params.id)} is on its way.`,
  }))
}
