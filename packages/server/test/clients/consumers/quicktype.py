"""The scenario of clients.long.test.ts in Python, with the classes of quicktype."""

import json
import os
import urllib.error
import urllib.request

import generated as api

URL = os.environ["STOCKADE_URL"]
token = None


def call(method, path, body=None):
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = "Bearer " + token
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, headers, method=method)
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


set_up = api.SetUpRequest.from_dict(
    {
        "code": os.environ["STOCKADE_SETUP_CODE"],
        "username": "admin",
        "email": "admin@stockade.example",
        "password": "Correct-Horse-7",
    }
)
token = api.SignedIn.from_dict(call("POST", "/api/v1/setup", set_up.to_dict())).access_token
created = api.RegisteredServer.from_dict(call("POST", "/api/v1/servers", {"hostname": "web-01.example"}))
servers = api.ListServersResponse.from_dict(call("GET", "/api/v1/servers?status=pending&limit=10"))
bans = api.ListBansResponse.from_dict(call("GET", "/api/v1/bans?q=jail%3Asshd"))
ban_path = "/api/v1/servers/" + created.id + "/bans"
ban = api.CreateBanRequest.from_dict({"ip": "203.0.113.9", "jail": "sshd", "duration": 600})
banned = api.CreateBanResponse.from_dict(call("POST", ban_path, ban.to_dict()))
command = api.Command.from_dict(call("GET", "/api/v1/commands/" + banned.command_id))
try:
    call("POST", ban_path, {"ip": "nonsense"})
    refused = None
except urllib.error.HTTPError as error:
    refused = [detail.path for detail in api.Problem.from_dict(json.load(error)).details]

print(
    json.dumps(
        {
            "hostnames": [server.hostname for server in servers.servers],
            "bans": bans.total,
            "command": {
                "type": command.type.value,
                "status": command.status.value,
                "server": command.server.hostname,
            },
            "refused": refused,
        }
    )
)
